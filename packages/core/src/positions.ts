/** Builders of position grids. Positions are host data: offsets, padding, packing and caches are one feature. */
import type { Grid } from './encoding.ts';
import type { Random } from './random.ts';
import { sample } from './random.ts';

/** Any rows of equal length. Throws RangeError when rows differ in length or a value is not an integer. */
export function explicit(rows: readonly ArrayLike<number>[]): Grid {
  const cols = rows[0]?.length ?? 0;
  const data = new Int32Array(rows.length * cols);
  rows.forEach((row, b) => {
    if (row.length !== cols)
      throw new RangeError(`row ${b} has ${row.length} entries, row 0 has ${cols}: rows must be equally long`);
    for (let t = 0; t < cols; t++) {
      const value = row[t]!;
      if (!Number.isInteger(value)) throw new RangeError(`entry [${b}, ${t}] is ${value}: only integers are allowed`);
      data[b * cols + t] = value;
    }
  });
  return { rows: rows.length, cols, data };
}

/** start, start + 1, … (length T), the same for every row of a batch. */
export function range(length: number, start = 0): Grid {
  return { rows: 1, cols: length, data: Int32Array.from({ length }, (_, t) => start + t) };
}

/** Left (or right) padding: position = number of real tokens before this one; padding itself gets 0. `mask`: 1 = real. */
export function fromMask(mask: Grid): Grid {
  const data = new Int32Array(mask.data.length);
  for (let b = 0; b < mask.rows; b++) {
    let seen = 0;
    for (let t = 0; t < mask.cols; t++) {
      const i = b * mask.cols + t;
      data[i] = mask.data[i] ? seen++ : 0;
    }
  }
  return { rows: mask.rows, cols: mask.cols, data };
}

/** Packing: each row holds sequences of these lengths one after another; positions restart at 0 in each. */
export function fromLengths(lengths: readonly (readonly number[])[]): { positions: Grid; segments: Grid } {
  const expand = (pick: (segment: number, offset: number) => number) =>
    explicit(lengths.map((row) => row.flatMap((n, s) => Array.from({ length: n }, (_, t) => pick(s, t)))));
  return { positions: expand((_, t) => t), segments: expand((s) => s) };
}

/**
 * Positions drawn uniformly without replacement from 0..maxPosition−1, sorted, one draw for all rows
 * (Ruoss 2023, 2305.16843, for absolute and rotary encodings; for relative ones the paper draws distances instead).
 */
export function randomized(length: number, maxPosition: number, random: Random): Grid {
  if (length > maxPosition) throw new RangeError(`cannot draw ${length} distinct positions below ${maxPosition}`);
  return explicit([sample(random, maxPosition, length).sort((a, b) => a - b)]);
}

/** Value at row b (any row when the grid has one) and column t. */
export function at(grid: Grid, b: number, t: number): number {
  return grid.data[(grid.rows === 1 ? 0 : b) * grid.cols + t]!;
}

/** `f` that keeps its last answer: training asks for the same positions step after step. What `f` returns must not be changed. */
export function keepLast<T>(f: (positions: Grid) => T): (positions: Grid) => T {
  let last: { readonly rows: number; readonly data: Int32Array; readonly answer: T } | undefined;
  return (positions) => {
    const { rows, data } = positions;
    if (last?.rows !== rows || last.data.length !== data.length || !last.data.every((p, i) => p === data[i]))
      last = { rows, data: Int32Array.from(data), answer: f(positions) };
    return last.answer;
  };
}

/** Maps every entry. */
export function mapGrid(grid: Grid, f: (value: number) => number): Grid {
  return { ...grid, data: grid.data.map(f) };
}

/** One grid's columns followed by another's; single rows are repeated to match. */
export function concatColumns(left: Grid, right: Grid): Grid {
  const rows = Math.max(left.rows, right.rows);
  if (left.rows === rows || left.rows === 1 ? right.rows !== rows && right.rows !== 1 : true)
    throw new RangeError(`cannot join grids of ${left.rows} and ${right.rows} rows`);
  const pick = (b: number, t: number) => (t < left.cols ? at(left, b, t) : at(right, b, t - left.cols));
  const cols = left.cols + right.cols;
  return { rows, cols, data: Int32Array.from({ length: rows * cols }, (_, i) => pick(Math.floor(i / cols), i % cols)) };
}

/** Columns [start, end). */
export function sliceColumns(grid: Grid, start: number, end: number): Grid {
  const cols = end - start;
  return {
    rows: grid.rows,
    cols,
    data: Int32Array.from(
      { length: grid.rows * cols },
      (_, i) => grid.data[Math.floor(i / cols) * grid.cols + start + (i % cols)]!,
    ),
  };
}

/** [min, max] of all entries; [0, -1] when empty. */
export function extent(grid: Grid): [min: number, max: number] {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of grid.data) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return grid.data.length ? [min, max] : [0, -1];
}
