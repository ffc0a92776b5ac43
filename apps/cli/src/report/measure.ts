/** The two scores a table can be about. What differs between them stands here, so that tables are written once. */
import type { Cell, Comparison, PairedDifference, Row, Spread } from '@posenc/training';
import { fixed, percent, signed } from './format.ts';
import { differenceOf, type Reading, scoresAt, shuffledScores } from './reading.ts';

type Control = Comparison['controls']['data'][number];
type Shuffled = Comparison['controls']['shuffled'][number];

export interface Measure {
  readonly better: 'lower' | 'higher';
  /** "2.180" · "97.5 %" */
  text(value: number): string;
  /** The same bare, for spreads and margins. */
  size(value: number): string;
  /** "+0.100" · "+12.5", in percentage points */
  difference(value: number): string;
  of(entry: Cell | Shuffled): Spread | undefined;
  ofControl(control: Control): number | undefined;
  /** To the baseline; none where a score is no number. */
  paired(cell: Cell): PairedDifference | undefined;
  /** Seed by seed; undefined where one is missing. */
  at(row: Row, multiple: number): number[] | undefined;
  shuffled(name: string): number[] | undefined;
}

export const lossOf = (reading: Reading): Measure => ({
  better: 'lower',
  text: reading.loss,
  size: reading.loss,
  difference: reading.difference,
  of: ({ loss }) => loss,
  ofControl: ({ loss }) => loss,
  paired: differenceOf,
  at: (row, multiple) => scoresAt(reading, row, multiple, 'loss'),
  shuffled: (name) => shuffledScores(reading, name, 'loss'),
});

/** Of tasks of problems: the share of answers with every token right. */
export const exactMatchOf = (reading: Reading): Measure => ({
  better: 'higher',
  text: percent,
  size: (share) => fixed(100 * share, 1),
  difference: (share) => signed(100 * share, 1),
  of: ({ exactMatch }) => exactMatch,
  ofControl: ({ exactMatch }) => exactMatch,
  paired: ({ exactMatchDifference: paired }) => (Number.isFinite(paired?.mean) ? paired : undefined),
  at: (row, multiple) => scoresAt(reading, row, multiple, 'exactMatch'),
  shuffled: (name) => shuffledScores(reading, name, 'exactMatch'),
});

/** What a comparison is about. */
export const measureOf = (reading: Reading): Measure => (reading.problems ? exactMatchOf(reading) : lossOf(reading));
