/** `npm run posenc -- ARGS`: the CLI from this repository's sources; relative paths are relative to where npm was called. */
import { ensureSetup, posenc } from './lib.mjs';

ensureSetup();
process.exitCode = await posenc(process.argv.slice(2), { cwd: process.env.INIT_CWD ?? process.cwd() });
