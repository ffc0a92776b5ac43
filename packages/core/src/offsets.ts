/** From one row of numbers per offset to the [Tq, Tk] matrix of an attention layer. */

import type { Tensor, Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Grid } from './encoding.ts';
import { at } from './positions.ts';

export interface OffsetPlan {
  /** The distinct offsets key − query that occur, ascending. */
  readonly offsets: Int32Array;
  /** [H, n] (one number per offset) → [B|1, H, Tq, Tk]. */
  expand(row: Tensor2D): Tensor4D;
}

export function planOffsets(query: Grid, key: Grid): OffsetPlan {
  return isRange(query) && isRange(key) ? diagonals(query, key) : lookup(query, key);
}

const isRange = (grid: Grid): boolean => grid.rows === 1 && grid.data.every((p, t) => p === grid.data[0]! + t);

/**
 * Consecutive positions: the matrix is constant along diagonals, so n = Tq + Tk − 1 numbers are read with stride n − 1.
 * Repeating the row and cutting it is far cheaper, forward and backward, than gathering Tq × Tk entries.
 */
function diagonals(query: Grid, key: Grid): OffsetPlan {
  const [numQueries, numKeys] = [query.cols, key.cols];
  const n = numQueries + numKeys - 1;
  const lowest = key.data[0]! - query.data[numQueries - 1]!;
  return {
    offsets: Int32Array.from({ length: n }, (_, i) => lowest + i),
    expand(row) {
      const numHeads = row.shape[0];
      if (numQueries === 1) return row.reshape([1, numHeads, 1, numKeys]);
      // Element (i, j) must be row[Tq − 1 + j − i]: flat index Tq − 1 + i·(n − 1) + j of the row repeated Tq times.
      const repeated: Tensor = tf.mul(row.reshape([numHeads, 1, n]), tf.ones([1, numQueries, 1]));
      const cut = tf.slice(
        repeated.reshape([numHeads, numQueries * n]),
        [0, numQueries - 1],
        [-1, numQueries * (n - 1)],
      );
      const slanted = cut.reshape([numHeads, numQueries, n - 1]);
      return tf.slice(slanted, [0, 0, 0], [-1, -1, numKeys]).reshape([1, numHeads, numQueries, numKeys]);
    },
  };
}

/** Any positions: look every pair up. */
function lookup(query: Grid, key: Grid): OffsetPlan {
  const rows = Math.max(query.rows, key.rows);
  const [numQueries, numKeys] = [query.cols, key.cols];
  const all = new Int32Array(rows * numQueries * numKeys);
  for (let b = 0, i = 0; b < rows; b++)
    for (let t = 0; t < numQueries; t++) for (let s = 0; s < numKeys; s++) all[i++] = at(key, b, s) - at(query, b, t);
  const offsets = Int32Array.from(new Set(all)).sort();
  const column = new Map(Array.from(offsets, (offset, i) => [offset, i]));
  const indices = all.map((offset) => column.get(offset)!);
  return {
    offsets,
    expand(row) {
      const numHeads = row.shape[0];
      const pairs = tf.gather(row.transpose(), tf.tensor1d(indices, 'int32'));
      return pairs.reshape([rows, numQueries, numKeys, numHeads]).transpose([0, 3, 1, 2]) as Tensor4D;
    },
  };
}
