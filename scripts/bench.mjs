/** `npm run bench -- OPTIONS`: posenc bench beside jax-js, the stock TensorFlow.js backends and PyTorch; keeps the result. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
const program = join(root, 'apps', 'bench', 'src', 'main.ts');
process.exitCode = await run('node', ['--conditions=posenc-source', program, ...process.argv.slice(2)]);
