/** What findings on text and on problems have in common. */
import { count, listed } from './format.ts';
import { cellAt, columnAt, compared, lossesAt, type Reading, shuffledLosses } from './reading.ts';

export interface Finding {
  readonly title: string;
  readonly text: string;
}

export const at = (reading: Reading, multiple: number) => `At ${multiple}× (${columnAt(reading, multiple)})`;

/** Who has no score at the longest lengths. */
export function ends({ comparison, multiples }: Reading): string[] {
  const ended = comparison.rows.filter((row) => row.cells.some((cell) => cell.status === 'undefined'));
  const names = ended.map((row) => {
    const lastDefined = multiples.filter((k) => cellAt(row, k)?.status === 'ok').at(-1);
    return lastDefined === undefined ? `${row.name} (nowhere defined)` : `${row.name} (past ${lastDefined}×)`;
  });
  return names.length > 0 ? [`Undefined, because the encoding has no positions that far: ${listed(names)}.`] : [];
}

export function divergences(reading: Reading): string[] {
  const diverged = reading.entries.filter((row) => row.cells.some((cell) => cell.status === 'diverged'));
  const names = diverged.map((row) => `${row.name} (${divergedSeeds(reading, row.name)})`);
  return names.length > 0 ? [`Training diverged: ${listed(names)}.`] : [];
}

/** "2 of 3 seeds" */
export function divergedSeeds({ comparison, seeds }: Reading, name: string): string {
  const some = comparison.trials.filter((trial) => trial.name === name && trial.status === 'diverged').length;
  return `${some} of ${count(seeds, 'seed')}`;
}

/** How much the loss at 1× depends on position numbers. */
export function positionsUsed(reading: Reading): Finding | undefined {
  const { entries, difference, seeds } = reading;
  const effects = entries.flatMap((row) => {
    const effect = compared(shuffledLosses(reading, row.name), lossesAt(reading, row, 1));
    return effect ? [{ row, effect }] : [];
  });
  if (effects.length === 0) return undefined;
  effects.sort((a, b) => b.effect.mean - a.effect.mean);
  const named = (list: typeof effects) =>
    listed(list.map(({ row, effect }) => `${row.name} (${difference(effect.mean)})`));
  const title = 'With shuffled position numbers';
  if (seeds === 1)
    return {
      title,
      text: `The loss at 1× changes by: ${named(effects)}. The more it rises, the more the model reads its positions.`,
    };
  const [raised, rest] = [
    effects.filter(({ effect }) => effect.verdict === 'higher'),
    effects.filter(({ effect }) => effect.verdict !== 'higher'),
  ];
  const sentences = [
    raised.length > 0 && `The loss at 1× clearly rises for ${named(raised)}: these models read their positions.`,
    rest.length > 0 && `Not clearly higher for ${named(rest)}.`,
  ].filter((sentence) => sentence !== false);
  return { title, text: sentences.join(' ') };
}
