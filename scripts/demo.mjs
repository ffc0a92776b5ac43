/** `npm run demo`: sets everything up, then compares six positional encodings on real text and writes a report. */
import { join } from 'node:path';
import { ensureSetup, posenc, root } from './lib.mjs';

ensureSetup();
const suite = join('apps', 'cli', 'suites', 'demo.json');
process.exitCode = await posenc(
  ['compare', suite, '--out', join('runs', 'demo'), '--resume', ...process.argv.slice(2)],
  { cwd: root },
);
