/** `npm run why-positions`: the measurements and pictures of docs/why-positions.md. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
process.exitCode = await run('node', [
  '--conditions=posenc-source',
  join(root, 'apps', 'cli', 'scripts', 'why-positions.ts'),
]);
