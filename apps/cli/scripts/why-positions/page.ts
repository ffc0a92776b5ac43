/** The measured parts of docs/why-positions.md, each between its two markers. */
import type { Measured } from '../map/data.ts';
import { lossText, measuredTable, trainedText } from '../map/measured.ts';
import { type Reading, readings, words } from './example.ts';
import type { Measurements } from './measurements.ts';

/** The page with its measured parts as they are now. Throws when a marker is missing. */
export function withMeasurements(page: string, measurements: Measurements, measured: Measured): string {
  const parts = {
    example: exampleTable(readings()),
    adjacency: adjacencyTable(measurements),
    variance: varianceTable(measurements),
    demo: `${trainedText(measured)} Nats per character; a bigram model has ${lossText(measured.bigram)}.\n\n${measuredTable(measured, measured.rows)}`,
  };
  return Object.entries(parts).reduce(between, page);
}

function between(page: string, [name, text]: [string, string]): string {
  const [start, end] = [`<!-- ${name}: start -->`, `<!-- ${name}: end -->`];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/why-positions.md has no ${start} … ${end}`);
  return `${page.slice(0, from + start.length)}\n${text}\n${page.slice(to)}`;
}

function exampleTable(all: readonly Reading[]): string {
  const names = Object.keys(words) as (keyof typeof words)[];
  return [
    `| read | seen | ${names.map((word) => `*${word}* (${words[word].join(', ')})`).join(' | ')} |`,
    `|---|---|${'---|'.repeat(names.length)}`,
    ...all.map(({ how, sentence, outputs }) => {
      const cells = names.map((word) => `(${outputs[word].map((x) => x.toFixed(2)).join(', ')})`);
      return `| ${sentence.join(' ')} | ${how} | ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

function adjacencyTable({ adjacency }: Measurements): string {
  const levels = ['embeddings', ...adjacency.causal.slice(1).map((_, l) => `layer ${l + 1}`)];
  const row = (name: string, values: readonly number[]) =>
    `| ${name} | ${values.map((v) => v.toFixed(2)).join(' | ')} |`;
  return [
    `| adjacency, untrained | ${levels.join(' | ')} |`,
    `|---|${'---|'.repeat(levels.length)}`,
    row('causal mask', adjacency.causal),
    row('everything visible', adjacency.bidirectional),
    row('causal mask, 4 different tokens', adjacency.fourSymbols),
  ].join('\n');
}

function varianceTable({ variance }: Measurements): string {
  const shown = [1, 2, 4, 8, 16, 32, 64];
  const row = (name: string, value: (n: number) => number) =>
    `| ${name} | ${shown.map((n) => value(n).toFixed(3)).join(' | ')} |`;
  return [
    `| n | ${shown.join(' | ')} |`,
    `|---|${'---|'.repeat(shown.length)}`,
    row('causal mask', (n) => variance.causal[n - 1]!),
    row('1/n', (n) => 1 / n),
    row('everything visible', (n) => variance.bidirectional[n - 1]!),
  ].join('\n');
}
