/** `npm run readme:zh`: the tables of numbers in README.md, copied into README.zh.md. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
process.exitCode = await run('node', [
  '--conditions=posenc-source',
  join(root, 'apps', 'cli', 'scripts', 'readme-zh.ts'),
]);
