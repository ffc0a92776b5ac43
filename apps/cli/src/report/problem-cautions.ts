/** What a reader must know of exact matches. */
import type { Row } from '@posenc/training';
import { fixed, listed, percent } from './format.ts';
import { exactMatchOf } from './measure.ts';
import type { Reading } from './reading.ts';

export function problemNotes(reading: Reading): string[] {
  return [sample(reading), sizes(reading), partedSeeds(reading), newAnswers(reading)].filter(
    (note) => note !== undefined,
  );
}

function sample({ problems, multiples }: Reading): string | undefined {
  const counts = multiples.flatMap((k) => problems?.find((set) => set.multiple === k)?.count ?? []);
  const least = Math.min(...counts);
  if (!(least > 0)) return undefined;
  const each = counts.every((n) => n === least)
    ? `${least} problems at each size`
    : listed(multiples.map((k, i) => `${counts[i]} problems at ${k}×`));
  // Of a share near one half, where it is largest.
  const error = fixed(100 * Math.sqrt(0.25 / least), 1);
  return `Exact matches are shares of ${each}, the same ones for every row and seed: with other problems a share near 50 % would move by about ±${error} points (standard error), for all rows mostly together. The spread is over seeds alone.`;
}

function sizes({ last }: Reading): string | undefined {
  return last > 1
    ? 'Each size has problems of its own, and larger ones are harder: a whole answer needs more tokens right, so that exact match falls with size even where each token is as often right as before. Accuracy and loss per answer token, below, show that part.'
    : undefined;
}

/** Rows whose seeds end on both sides, which a mean and a standard deviation do not tell. */
function partedSeeds(reading: Reading): string | undefined {
  const { comparison, multiples } = reading;
  const { at } = exactMatchOf(reading);
  const spans = (row: Row) =>
    multiples.flatMap((k) => {
      const shares = at(row, k);
      if (!shares) return [];
      const [low, high] = [Math.min(...shares), Math.max(...shares)];
      return high - low >= 0.5 ? [`${row.name} at ${k}× (${percent(low)} to ${percent(high)})`] : [];
    });
  const parted = comparison.rows.flatMap(spans);
  return parted.length > 0
    ? `Seeds part ways: ${listed(parted)}. There a mean stands for no single model, and an interval built on a normal spread is a rough guide; the values of the seeds stand behind each cell of the table.`
    : undefined;
}

/** Tasks whose larger answers hold tokens that answers in training never had. */
const answersGrow: readonly string[] = ['indexing', 'ordering'];

const newAnswers = ({ comparison: { suite }, last }: Reading): string | undefined =>
  last > 1 && answersGrow.includes(suite.task.type)
    ? `“${suite.task.type}” answers with absolute positions: beyond training right answers hold tokens that training never asked for, so that 0 % there says little about an encoding.`
    : undefined;
