/** `npm run bench -- OPTIONS`: posenc bench with rivals. */
import { run } from 'posenc';
import { benchCommand, processIo } from 'posenc/bench';
import { save } from './results.ts';
import { rivals, rivalVersions } from './rivals.ts';

const bench = benchCommand({ contenders: rivals, versions: rivalVersions(), save });
const code = await run(['bench', ...process.argv.slice(2)], processIo(), [bench]);
process.stdout.write('', () => process.exit(code));
