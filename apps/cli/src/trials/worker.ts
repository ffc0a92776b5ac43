/** The entry file of a worker process: one trial, on an environment of its own. */
import { serveTrials } from '@posenc/training';
import { createEnvironment } from '../environment.ts';
import type { WorkerOptions } from './workers.ts';

const { backend, threads, plugins, cwd } = JSON.parse(process.argv[2]!) as WorkerOptions;

serveTrials(() => createEnvironment(backend, plugins, { cwd }, threads));
