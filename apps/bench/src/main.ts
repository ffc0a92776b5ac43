/** `npm run bench -- OPTIONS`: posenc bench with rivals. */
import { run } from 'posenc';
import { benchCommand, processIo } from 'posenc/bench';
import { save } from './results.ts';
import { products, rivals, rivalVersions } from './rivals.ts';
import { targetParts, targetsText } from './targets.ts';

const bench = benchCommand({
  contenders: rivals,
  products,
  versions: rivalVersions(),
  groups: { targets: targetParts },
  conclude: (document) => [targetsText(document), save(document)].join('\n'),
});
const code = await run(['bench', ...process.argv.slice(2)], processIo(), [bench]);
process.stdout.write('', () => process.exit(code));
