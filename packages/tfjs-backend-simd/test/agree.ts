/** One computation on two backends. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect } from 'vitest';
import { useSimd, type Variant } from '../src/index.ts';
import { numbers, tensorOf } from './numbers.ts';

export { numbers, tensorOf };

fc.configureGlobal({ seed: 7, numRuns: 60 });

export type Compute = () => tf.Tensor | tf.Tensor[];

interface Result {
  readonly shape: number[];
  readonly dtype: string;
  readonly values: readonly number[];
}

async function run(backend: 'cpu' | 'simd', compute: Compute): Promise<Result[]> {
  // variants.slow.test.ts runs all of this under the other variant, too.
  if (backend === 'simd') await useSimd({ variant: process.env.SIMD_TEST_VARIANT as Variant | undefined });
  else {
    Object.assign(tf.findBackend('cpu'), { firstUse: false });
    await tf.setBackend('cpu');
  }
  const results: Result[] = [];
  // Pushed, not returned: tidy looks through everything that it returns for tensors.
  tf.tidy(() => {
    const tensors = compute();
    for (const t of Array.isArray(tensors) ? tensors : [tensors])
      results.push({ shape: t.shape, dtype: t.dtype, values: Array.from(t.dataSync()) });
  });
  return results;
}

/** The same shapes, types and numbers, within `tolerance · (1 + |expected|)`; NaN where NaN, infinite where infinite. */
export async function agree(compute: Compute, tolerance = 0): Promise<void> {
  const expected = await run('cpu', compute);
  const actual = await run('simd', compute);
  expect(actual.length).toBe(expected.length);
  for (const [n, { shape, dtype, values }] of actual.entries()) {
    const want = expected[n]!;
    expect({ shape, dtype }).toEqual({ shape: want.shape, dtype: want.dtype });
    const i = values.findIndex((x, at) => !close(x, want.values[at]!, tolerance));
    if (i >= 0) expect.fail(`output ${n}, element ${i} of [${shape}] is ${values[i]}, expected ${want.values[i]}`);
  }
}

const close = (x: number, y: number, tolerance: number) =>
  Object.is(x, y) || x === y || Math.abs(x - y) <= tolerance * (1 + Math.abs(y));

/** `tensorOf` with NaN, infinities and zeros strewn in, and numbers whose sums leave the range of float32. */
export function wildTensorOf(seed: number, shape: readonly number[], extremes = true): tf.Tensor {
  const special = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, -0, 88.8, -104];
  if (extremes) special.push(1e-40, 3e38, -1e20);
  const next = numbers(seed);
  const size = shape.reduce((n, extent) => n * extent, 1);
  const value = () => (next() > 0.6 ? special[Math.floor(((next() + 1) / 2) * special.length)]! : 4 * next());
  return tf.tensor(Float32Array.from({ length: size }, value), [...shape]);
}

export const shapes = (minLength: number, maxLength: number, each = fc.integer({ min: 0, max: 5 })) =>
  fc.array(each, { minLength, maxLength });

/** Axis lengths: nothing, one, a few, and enough for the vector loops and their remainders. */
export const extent = fc.oneof(fc.integer({ min: 0, max: 5 }), {
  arbitrary: fc.noBias(fc.integer({ min: 6, max: 40 })),
  weight: 3,
});
export const seeds = fc.nat({ max: 1e6 });
