/** `pnpm mutants`: plants every bug, runs every law on it, and prints who caught what. */
import { useBackend } from '@posenc/backend';
import { lawsFor } from '../src/index.ts';
import { loadEdited } from './load.ts';
import { formatMatrix, matrix } from './matrix.ts';

await useBackend('cpu');
const laws = [...new Set(lawsFor(await loadEdited('nope'), [{}]).map(({ law }) => law))];
const rows = await matrix(({ mutant, caught }) => {
  process.stderr.write(`${caught.length ? `${caught.length} laws` : 'ESCAPED'}  ${mutant.encoding}: ${mutant.bug}\n`);
});
console.log(formatMatrix(rows, laws));
const escaped = rows.filter(({ caught }) => caught.length === 0).length;
console.log(`\n${rows.length} planted bugs, ${escaped} escaped`);
process.exitCode = escaped ? 1 : 0;
