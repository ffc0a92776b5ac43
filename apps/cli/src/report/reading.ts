/** A comparison as its readers need it: columns in order, scores by seed, the words for its units. Computes no new statistic. */
import {
  type Cell,
  type Comparison,
  type PairedDifference,
  pairedDifference,
  type Row,
  type TrialResult,
} from '@posenc/training';
import { fixed, signed } from './format.ts';

export interface Reading {
  readonly comparison: Comparison;
  /** Ascending multiples of the training length; `first` and `last` are its ends. */
  readonly multiples: readonly number[];
  readonly first: number;
  readonly last: number;
  readonly seeds: number;
  /** What a token is called in this task. */
  readonly unit: 'character' | 'byte' | 'token';
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
  const decimals = decimalsFor(rows);
  return {
    comparison,
    multiples,
    first: multiples[0]!,
    last: multiples.at(-1)!,
    seeds: suite.seeds.length,
    unit: unitOf(suite.task),
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

export const rowOf = ({ comparison }: Reading, name: string): Row | undefined =>
  comparison.rows.find((row) => row.name === name);

/** The entry that an override belongs to; its lines are drawn as variants of that one's. */
export const familyOf = (row: Row | undefined): string | undefined =>
  row && row.trainedAs !== row.name ? row.trainedAs : undefined;

export const trialsOf = ({ comparison }: Reading, name: string): readonly TrialResult[] =>
  comparison.trials.filter((trial) => trial.name === name);

export const control = ({ comparison }: Reading, name: string) =>
  comparison.controls.data.find((entry) => entry.name === name && Number.isFinite(entry.loss));

/** A row's loss at a multiple, seed by seed in the suite's order; undefined where one is missing. */
export function lossesAt({ comparison }: Reading, row: Row, multiple: number): number[] | undefined {
  return bySeed(comparison, row.trainedAs, (trial) => {
    const evaluation = trial.evaluations.find((e) => e.name === row.name);
    return evaluation?.lengths.find((entry) => entry.multiple === multiple)?.score?.loss;
  });
}

export const shuffledLosses = ({ comparison }: Reading, name: string): number[] | undefined =>
  bySeed(comparison, name, (trial) => trial.shuffled?.loss);

function bySeed(
  { suite, trials }: Comparison,
  name: string,
  lossOf: (trial: TrialResult) => number | null | undefined,
): number[] | undefined {
  const values = suite.seeds.flatMap((seed) => {
    const trial = trials.find((t) => t.name === name && t.seed === seed);
    const value = trial && lossOf(trial);
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
