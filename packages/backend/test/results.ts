/** Running one computation on two backends, and seeded data for it. */
import { type Random, stream, uniform } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { type BackendName, useBackend } from '../src/index.ts';

fc.configureGlobal({ seed: 7, numRuns: 60 });

export interface Result {
  readonly shape: number[];
  readonly dtype: string;
  readonly values: number[];
}

export type Compute = () => tf.Tensor | tf.Tensor[];

/** The results of `compute` on a backend; leaves no tensor behind. */
export async function on(backend: BackendName, compute: Compute): Promise<Result[]> {
  await useBackend(backend);
  const results: Result[] = [];
  tf.tidy(() => {
    const tensors = compute();
    for (const { shape, dtype, ...t } of Array.isArray(tensors) ? tensors.map(read) : [read(tensors)])
      results.push({ shape, dtype, values: t.values });
  });
  return results;
}

const read = (t: tf.Tensor): Result => ({ shape: t.shape, dtype: t.dtype, values: Array.from(t.dataSync()) });

/** The first element that differs by more than `tolerance · (1 + |expected|)`, in words; undefined when none does. */
export function difference(actual: Result, expected: Result, tolerance: number): string | undefined {
  if (String(actual.shape) !== String(expected.shape)) return `shape [${actual.shape}], expected [${expected.shape}]`;
  if (actual.dtype !== expected.dtype) return `dtype ${actual.dtype}, expected ${expected.dtype}`;
  for (const [i, want] of expected.values.entries()) {
    const got = actual.values[i]!;
    if (got === want || (Number.isNaN(got) && Number.isNaN(want))) continue;
    if (!(Math.abs(got - want) <= tolerance * (1 + Math.abs(want)))) return `element ${i} is ${got}, expected ${want}`;
  }
  return undefined;
}

const size = (shape: readonly number[]) => shape.reduce((n, extent) => n * extent, 1);

/** Uniform in [−1, 1), float32. */
export function floats(random: Random, shape: readonly number[], [low, high] = [-1, 1]): Float32Array {
  return Float32Array.from({ length: size(shape) }, () => low! + (high! - low!) * uniform(random));
}

export function tensorOf(seed: string, shape: number[], dtype: tf.DataType = 'float32'): tf.Tensor {
  const values = floats(stream(1, seed), shape);
  if (dtype === 'float32') return tf.tensor(values, shape);
  if (dtype === 'bool')
    return tf.tensor(
      Uint8Array.from(values, (x) => (x > 0 ? 1 : 0)),
      shape,
      'bool',
    );
  return tf.tensor(
    Int32Array.from(values, (x) => Math.round(9 * x)),
    shape,
    'int32',
  );
}

/** Axis lengths: nothing, one, a few, and enough for the fast paths. */
export const extent = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5 }), {
  arbitrary: fc.noBias(fc.integer({ min: 6, max: 40 })),
  weight: 3,
});
export const shapes = (rank: { min: number; max: number }, each = fc.integer({ min: 0, max: 5 })) =>
  fc.array(each, { minLength: rank.min, maxLength: rank.max });
