/** Reading golden files, and measuring how far numbers are from them. */

import type { Grid } from '@posenc/core';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { largestDifference as deviation, goldenOf, type Tensor as Stored } from '../../../../golden.shared.ts';

export { deviation, type Stored };

const { golden } = goldenOf(import.meta.url);

export const load = <T>(name: string): T => golden<T>(`${name}.json`);

/** The largest |actual − expected| / |expected|; where 0 is expected, only 0 counts as close. */
export function relativeDeviation(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  const ratio = Array.from(actual, (a, i) => (expected[i] === 0 ? (a === 0 ? 1 : Infinity) : a / expected[i]!));
  return deviation(ratio, new Array(expected.length).fill(1));
}

export const gridOf = ({ shape, data }: Stored): Grid => ({
  rows: shape[0]!,
  cols: shape[1]!,
  data: Int32Array.from(data),
});

export const tensorOf = ({ shape, data }: Stored): Tensor4D =>
  tf.tensor4d(Float32Array.from(data), shape as [number, number, number, number]);
