import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/**
 * Running sum along the last axis: y_i = Σ_{l ≤ i} x_l, or from the end, y_i = Σ_{l ≥ i} x_l. As a matrix, because tfjs's own
 * takes no negative axis and has a gradient for the last axis only.
 */
export function cumulativeSum<T extends Tensor>(x: T, { fromEnd = false } = {}): T {
  const rows = x.reshape([-1, x.shape[x.rank - 1]!]);
  return tf.cumsum(rows, 1, false, fromEnd).reshape(x.shape);
}
