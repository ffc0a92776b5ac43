/** `npm run why-positions`: the measurements and pictures of docs/why-positions.md, in a minute or two. */
import { join } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
const code = await run('node', [
  '--conditions=posenc-source',
  join(root, 'apps', 'cli', 'scripts', 'why-positions.ts'),
]);
process.exitCode = code || (await run('biome', ['format', '--write', 'docs/data/why-positions.json']));
