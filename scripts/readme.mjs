/** `npm run readme`: the README's picture and table, from the results of the demo. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
process.exitCode = await run('node', ['--conditions=posenc-source', join(root, 'apps', 'cli', 'scripts', 'readme.ts')]);
