/** A worker whose environment throws what its argument names. */
import { serveTrials } from '../src/index.ts';

const thrown: Readonly<Record<string, unknown>> = { error: new TypeError('on purpose'), text: 'no error at all' };

serveTrials(async () => {
  throw thrown[process.argv[2]!];
});
