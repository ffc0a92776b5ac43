/** `npm run map`: docs/map.md from the registry; with the results.json of a demo run, its measurements anew. */
import { join, resolve } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

ensureSetup();
const paths = process.argv.slice(2).map((path) => resolve(process.env.INIT_CWD ?? process.cwd(), path));
const code = await run('node', [
  '--conditions=posenc-source',
  join(root, 'apps', 'cli', 'scripts', 'map.ts'),
  ...paths,
]);
process.exitCode = code || (await run('biome', ['format', '--write', 'docs/measured.json']));
