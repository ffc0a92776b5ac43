/** Position grids that laws place tokens on. */
import { explicit, type Grid, permutation, range, sample, stream } from '@posenc/core';

/** [rows, cols] increasing positions with gaps, other ones in each row, all below `maxPosition`. */
export function gapped(rows: number, cols: number, maxPosition: number): Grid {
  const below = Math.min(maxPosition, 3 * cols);
  const row = (b: number) => sample(stream(0, `positions/${b}`), below, cols).sort((x, y) => x - y);
  return explicit(Array.from({ length: rows }, (_, b) => row(b)));
}

/** 0 … length−1 in another order: columns [from, to) shuffled so that none keeps its place, the rest as they were. */
export function shuffled(length: number, from = 0, to = length): Grid {
  const positions = Array.from(range(length).data);
  const order = permutation(stream(0, 'shuffle'), to - from);
  // One step along a cycle through all of them moves every single one.
  order.forEach((place, i) => {
    positions[from + place] = from + order[(i + 1) % order.length]!;
  });
  return explicit([positions]);
}

export const constant = (value: number, cols: number): Grid => ({
  rows: 1,
  cols,
  data: new Int32Array(cols).fill(value),
});
