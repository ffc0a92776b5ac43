/** `pnpm mutants`: plants every bug, runs every law on it, prints who caught what, and keeps it in matrix.txt. */
import { writeFile } from 'node:fs/promises';
import { useBackend } from '@posenc/backend';
import { lawsFor } from '../src/index.ts';
import { loadEdited } from './load.ts';
import { formatMatrix, matrix, titleOf } from './matrix.ts';

await useBackend('cpu');
const laws = [...new Set(lawsFor(await loadEdited('nope'), [{}]).map(({ law }) => law))];
const rows = await matrix(({ mutant, caught }) => {
  process.stderr.write(`${caught.length ? `${caught.length} laws` : 'ESCAPED'}  ${titleOf(mutant)}\n`);
});
const text = formatMatrix(rows, laws);
console.log(text);
await writeFile(
  new URL('matrix.txt', import.meta.url),
  `Laws across, planted bugs down; ● the law fails on the edited encoding. Written by \`pnpm mutants\` (cpu backend).\n\n${text}`,
);
process.exitCode = rows.every(({ caught }) => caught.length > 0) ? 0 : 1;
