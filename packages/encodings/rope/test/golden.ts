/** Reading golden files, and measuring how far numbers are from them. */
import { readFileSync } from 'node:fs';
import type { Grid } from '@posenc/core';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** A stored tensor: row-major. */
export interface Stored {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

export function load<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../golden/${name}.json`, import.meta.url), 'utf8')) as T;
}

/** The largest |actual − expected|; NaN when either has one, which no comparison survives. */
export function deviation(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) throw new Error(`${actual.length} numbers, expected ${expected.length}`);
  return Math.max(...Array.from(actual, (a, i) => Math.abs(a - expected[i]!)));
}

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
