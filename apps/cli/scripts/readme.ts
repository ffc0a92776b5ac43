/** Draws the README's picture and table from the demo's results: run the demo first. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineChart } from '@posenc/plots';
import type { Cell, Comparison } from '@posenc/training';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const results = join(root, 'runs', 'demo', 'results.json');
if (!existsSync(results)) {
  console.error('error: there is no runs/demo/results.json yet: run "npm run demo" first');
  process.exit(1);
}
const { rows, controls, suite } = JSON.parse(readFileSync(results, 'utf8')) as Comparison;
const bigram = controls.data.find((control) => control.name === 'bigram')!;

const picture = lineChart(
  {
    title: 'How far does each encoding reach?',
    subtitle: `Loss on the same ${suite.training.length} characters, read with ever more context; trained at ${suite.training.length}`,
    x: { label: 'context length (characters)', scale: 'log2', ticks: rows[0]!.cells.map((cell) => cell.length) },
    y: { label: 'nats per character' },
    series: rows.map((row) => ({
      name: row.name,
      ...(row.name !== row.trainedAs && { variantOf: row.trainedAs }),
      points: row.cells.map(({ length, loss }) =>
        loss
          ? { x: length, y: loss.mean, low: loss.mean - loss.sd, high: loss.mean + loss.sd }
          : { x: length, y: undefined },
      ),
    })),
    references: [{ y: bigram.loss, label: 'bigram' }],
  },
  { width: 820 },
);
writeFileSync(join(root, 'docs', 'demo.svg'), picture);

const text = ({ status, loss }: Cell) => (loss ? `${loss.mean.toFixed(2)} ± ${loss.sd.toFixed(2)}` : status);
const table = [
  `| nats per character | ${rows[0]!.cells.map((cell) => `${cell.multiple}× (${cell.length})`).join(' | ')} |`,
  `|---|${'---|'.repeat(rows[0]!.cells.length)}`,
  ...rows.map(
    (row) =>
      `| ${row.name === row.trainedAs ? row.name : `&nbsp;&nbsp;${row.name}`} | ${row.cells.map(text).join(' | ')} |`,
  ),
  `| ${controls.data.map((control) => `${control.name} ${control.loss.toFixed(2)}`).join(', ')} | ${' |'.repeat(rows[0]!.cells.length)}`,
].join('\n');
const readme = join(root, 'README.md');
const between = /(<!-- demo table: start -->)[\s\S]*(<!-- demo table: end -->)/;
writeFileSync(readme, readFileSync(readme, 'utf8').replace(between, `$1\n${table}\n$2`));
