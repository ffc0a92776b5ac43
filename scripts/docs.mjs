/** `npm run docs`: the API reference of every package, into docs/api. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
process.exitCode = await run('node', ['--conditions=posenc-source', join(root, 'apps', 'docs', 'src', 'main.ts')]);
