/**
 * Rows by index, and sums into rows: each is the other's transpose, and so its gradient. tfjs's own gather has a gradient that
 * goes over all values once per row of the table (and that stock wasm lacks), and its scatter has none.
 */

import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** table [n, w], indices [m] → [m, w]: row indices[i] of the table. Indices must be below n: backends differ beyond. */
export function gatherRows(table: Tensor2D, indices: Tensor1D): Tensor2D {
  const numRows = table.shape[0];
  const op = tf.customGrad((input, save) => {
    (save as tf.GradSaveFunc)([indices]);
    const gradFunc = (dy: Tensor, [at]: Tensor[]) => sumInto(dy as Tensor2D, at as Tensor1D, numRows);
    return { value: tf.gather(input as Tensor2D, indices), gradFunc };
  });
  return op(table) as Tensor2D;
}

/** rows [m, w], indices [m] → [n, w]: row r is the sum of all rows i with indices[i] = r. */
export function scatterRows(rows: Tensor2D, indices: Tensor1D, numRows: number): Tensor2D {
  const op = tf.customGrad((input, save) => {
    (save as tf.GradSaveFunc)([indices]);
    const gradFunc = (dy: Tensor, [at]: Tensor[]) => tf.gather(dy, at as Tensor1D);
    return { value: sumInto(input as Tensor2D, indices, numRows), gradFunc };
  });
  return op(rows) as Tensor2D;
}

const sumInto = (rows: Tensor2D, indices: Tensor1D, numRows: number): Tensor2D =>
  tf.scatterND(indices.expandDims(1), rows, [numRows, rows.shape[1]]) as Tensor2D;
