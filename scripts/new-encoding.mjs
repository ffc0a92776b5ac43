/** `npm run new-encoding -- NAME`: a new encoding as a package of this repository, linked into the workspace. */
import { ensureSetup, posenc, root, run } from './lib.mjs';

ensureSetup();
const made = await posenc(['new', ...process.argv.slice(2)], { cwd: root });
// Where CI is set, pnpm changes the lockfile only when told to.
process.exitCode =
  made || (await run('pnpm', ['install', '--no-frozen-lockfile', '--prefer-offline', '--reporter=silent']));
if (!process.exitCode) console.error('\nThe first step is done: it is linked.');
