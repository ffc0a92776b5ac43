/** `npm run readme:bench`: the README's benchmark tables, from the newest result in apps/bench/results. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
process.exitCode = await run('node', [
  '--conditions=posenc-source',
  join(root, 'apps', 'bench', 'scripts', 'readme.ts'),
]);
