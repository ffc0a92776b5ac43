/** The entry file of worker processes in tests. */
import { serveTrials } from '../src/index.ts';
import { environment } from './environment.ts';

serveTrials(async () => environment);
