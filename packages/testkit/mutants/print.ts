/** `pnpm mutants`: plants every bug, runs every law on it, prints who caught what, and keeps it in MATRIX.md. */
import { writeFile } from 'node:fs/promises';
import { useBackend } from '@posenc/backend';
import { lawsFor } from '../src/index.ts';
import { loadEdited } from './load.ts';
import { formatMatrix, matrix } from './matrix.ts';

await useBackend('cpu');
const laws = [...new Set(lawsFor(await loadEdited('nope'), [{}]).map(({ law }) => law))];
const rows = await matrix(({ mutant, caught }) => {
  process.stderr.write(`${caught.length ? `${caught.length} laws` : 'ESCAPED'}  ${mutant.encoding}: ${mutant.bug}\n`);
});
const escaped = rows.filter(({ caught }) => caught.length === 0).length;
const text = `${formatMatrix(rows, laws)}\n\n${rows.length} planted bugs, ${escaped} escaped\n`;
console.log(text);
await writeFile(
  new URL('MATRIX.md', import.meta.url),
  `# Planted bugs × laws\n\nWritten by \`pnpm mutants\`, on the cpu backend. ● the law fails on the edited encoding.\n\n${text}`,
);
process.exitCode = escaped ? 1 : 0;
