/** A comparison as its readers need it: columns in order, scores by seed, the words for its units. Computes no new statistic. */
import {
  type Cell,
  type Comparison,
  type PairedDifference,
  pairedDifference,
  type Row,
  type TrialResult,
} from '@posenc/training';
import { count, fixed, signed, sizesText } from './format.ts';

export interface Reading {
  readonly comparison: Comparison;
  /** Ascending multiples of the training length; `first` and `last` are its ends. */
  readonly multiples: readonly number[];
  readonly first: number;
  readonly last: number;
  readonly seeds: number;
  /** What a token is called in this task. */
  readonly unit: 'character' | 'byte' | 'token';
  /** What losses and accuracies are means over. */
  readonly scored: Reading['unit'] | 'answer token';
  /** Of a task of problems: what each column was measured on. */
  readonly problems: Comparison['problems'];
  /** Rows with weights of their own, and rows that are another config on such weights. */
  readonly entries: readonly Row[];
  readonly overrides: readonly Row[];
  /** In one order for all figures, so that a row keeps its colour. */
  readonly names: readonly string[];
  /** Losses in nats as text, with as many decimals as this comparison needs. */
  loss(value: number): string;
  difference(value: number): string;
}

export function read(given: Comparison): Reading {
  const comparison = { ...given, rows: given.rows.map(revived) };
  const { suite, rows } = comparison;
  const multiples = [...new Set(suite.evaluation.multiples)].sort((a, b) => a - b);
  const entries = rows.filter((row) => row.name === row.trainedAs);
  const overrides = rows.filter((row) => row.name !== row.trainedAs);
  const decimals = comparison.problems ? 3 : decimalsFor(rows);
  const unit = unitOf(suite.task);
  return {
    comparison,
    multiples,
    first: multiples[0]!,
    last: multiples.at(-1)!,
    seeds: suite.seeds.length,
    unit,
    scored: comparison.problems ? 'answer token' : unit,
    problems: comparison.problems,
    entries,
    overrides,
    names: [...entries, ...overrides].map((row) => row.name),
    loss: (value) => fixed(value, decimals),
    difference: (value) => signed(value, decimals),
  };
}

/** In results.json a number that is none is null, which arithmetic would take for 0. */
const revived = (row: Row): Row => ({
  ...row,
  cells: row.cells.map((cell) => ({
    ...cell,
    loss: cell.loss && numbers(cell.loss),
    accuracy: cell.accuracy && numbers(cell.accuracy),
    difference: cell.difference && numbers(cell.difference),
    exactMatch: cell.exactMatch && numbers(cell.exactMatch),
    exactMatchDifference: cell.exactMatchDifference && numbers(cell.exactMatchDifference),
  })),
});

const numbers = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? Number.NaN])) as T;

/** Three decimals, more where losses are small. */
function decimalsFor(rows: readonly Row[]): number {
  const means = rows.flatMap((row) => row.cells.flatMap((cell) => cell.loss?.mean ?? []));
  const least = means.filter((mean) => mean > 0).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  if (least >= 0.1) return 3;
  return least >= 0.01 ? 4 : 5;
}

function unitOf(task: Comparison['suite']['task']): Reading['unit'] {
  if (task.tokenizer === 'byte') return 'byte';
  return task.tokenizer === 'char' || (task.type === 'text' && task.tokenizer === undefined) ? 'character' : 'token';
}

export const cellAt = (row: Row, multiple: number): Cell | undefined =>
  row.cells.find((cell) => cell.multiple === multiple);

/** The mean loss at a multiple, if there is one and it is a number. */
export function meanAt(row: Row | undefined, multiple: number): number | undefined {
  const mean = row && cellAt(row, multiple)?.loss?.mean;
  return Number.isFinite(mean) ? mean : undefined;
}

/** A cell's difference to the baseline; none where a loss is no number, for then the verdict means nothing. */
export const differenceOf = (cell: Cell): PairedDifference | undefined =>
  Number.isFinite(cell.difference?.mean) ? cell.difference : undefined;

export const lengthAt = ({ comparison }: Reading, multiple: number): number =>
  multiple * comparison.suite.training.length;

/** What stands in a column: "128 characters", "4–6 digits". */
export function columnAt(reading: Reading, multiple: number): string {
  const sizes = reading.problems?.find((set) => set.multiple === multiple)?.sizes;
  return sizes ? sizesText(sizes) : count(lengthAt(reading, multiple), reading.unit);
}

/** What a trial was trained on, in characters or tokens, or in problems. */
export function examplesPerTrial({ comparison, unit, problems }: Reading): {
  readonly n: number;
  readonly noun: string;
} {
  const { suite, trials } = comparison;
  const { steps, batchSize, length } = suite.training;
  const tokens = Math.max(...trials.map((trial) => trial.tokens), steps * batchSize * length);
  return problems ? { n: tokens / length, noun: 'problems' } : { n: tokens, noun: `${unit}s` };
}

export const rowOf = ({ comparison }: Reading, name: string): Row | undefined =>
  comparison.rows.find((row) => row.name === name);

/** The entry that an override belongs to; its lines are drawn as variants of that one's. */
export const familyOf = (row: Row | undefined): string | undefined =>
  row && row.trainedAs !== row.name ? row.trainedAs : undefined;

export const trialsOf = ({ comparison }: Reading, name: string): readonly TrialResult[] =>
  comparison.trials.filter((trial) => trial.name === name);

export const control = ({ comparison }: Reading, name: string) =>
  comparison.controls.data.find((entry) => entry.name === name && Number.isFinite(entry.loss));

type ScoreName = 'loss' | 'exactMatch';

/** A row's scores at a multiple, seed by seed in the suite's order; undefined where one is missing. */
export function scoresAt({ comparison }: Reading, row: Row, multiple: number, score: ScoreName): number[] | undefined {
  return bySeed(comparison, row.trainedAs, (trial) => {
    const evaluation = trial.evaluations.find((e) => e.name === row.name);
    return evaluation?.lengths.find((entry) => entry.multiple === multiple)?.score?.[score];
  });
}

export const lossesAt = (reading: Reading, row: Row, multiple: number) => scoresAt(reading, row, multiple, 'loss');

/** With the position numbers shuffled, at 1×. */
export const shuffledScores = ({ comparison }: Reading, name: string, score: ScoreName): number[] | undefined =>
  bySeed(comparison, name, (trial) => trial.shuffled?.[score]);

export const shuffledLosses = (reading: Reading, name: string) => shuffledScores(reading, name, 'loss');

function bySeed(
  { suite, trials }: Comparison,
  name: string,
  scoreOf: (trial: TrialResult) => number | null | undefined,
): number[] | undefined {
  const values = suite.seeds.flatMap((seed) => {
    const trial = trials.find((t) => t.name === name && t.seed === seed);
    const value = trial && scoreOf(trial);
    return typeof value === 'number' && Number.isFinite(value) ? [value] : [];
  });
  return values.length === suite.seeds.length ? values : undefined;
}

/** Seed by seed, or against one number; undefined where a side is missing. */
export function compared(
  ours: readonly number[] | undefined,
  theirs: readonly number[] | number | undefined,
): PairedDifference | undefined {
  if (!ours || theirs === undefined) return undefined;
  return pairedDifference(ours, typeof theirs === 'number' ? ours.map(() => theirs) : theirs);
}
