/** Elementwise functions against the cpu backend: shapes that broadcast, NaN, infinities, the ends of the number range. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SimdBackend, useSimd } from '../src/index.ts';
import { firstFreeAddress } from '../src/task.ts';
import { agree, seeds, shapes, tensorOf, wildTensorOf } from './agree.ts';

const unary = {
  ...{ abs: tf.abs, neg: tf.neg, square: tf.square, sqrt: tf.sqrt, rsqrt: tf.rsqrt, reciprocal: tf.reciprocal },
  ...{ exp: tf.exp, log: tf.log, sigmoid: tf.sigmoid, tanh: tf.tanh, erf: tf.erf, relu: tf.relu },
  ...{ log1p: tf.log1p, floor: tf.floor, ceil: tf.ceil, round: tf.round },
  ...{ step: (x: tf.Tensor) => tf.step(x, -0.25), step0: (x: tf.Tensor) => tf.step(x) },
};

const anyType: unknown[] = [tf.abs, tf.neg, tf.square, tf.exp, tf.relu, unary.step];

test.each(Object.entries(unary))('%s', async (_, op) => {
  await fc.assert(
    fc.asyncProperty(shapes(0, 4, fc.integer({ min: 0, max: 7 })), seeds, async (shape, seed) => {
      await agree(() => [op(tensorOf(seed, shape)), op(wildTensorOf(seed, shape))], 1e-6);
    }),
    { numRuns: 40 },
  );
  await agree(() => op(tensorOf(1, [3, 70_000])), 1e-6);
  if (anyType.includes(op))
    for (const dtype of ['int32', 'bool'] as const) await agree(() => op(tensorOf(3, [5], dtype)), 1e-5);
});

test.each([
  ['exp', tf.exp, Math.exp, [-87, 88]],
  ['log', tf.log, Math.log, [1e-6, 50]],
  ['log1p', tf.log1p, Math.log1p, [-0.99, 3]],
  ['log1p near 0', tf.log1p, Math.log1p, [-1e-3, 1e-3]],
  ['tanh', tf.tanh, Math.tanh, [-10, 10]],
  ['sigmoid', tf.sigmoid, (x: number) => 1 / (1 + Math.exp(-x)), [-80, 20]],
] as const)('%s is right to three units in the last place', async (_, op, exact, [low, high]) => {
  await useSimd();
  const x = Float32Array.from({ length: 20_001 }, (_, i) => low + ((high - low) * i) / 20_000);
  const y = tf.tidy(() => op(tf.tensor1d(x)).dataSync());
  const worst = Math.max(...x.map((u, i) => Math.abs(y[i]! - exact(u)) / (2 ** -23 * (Math.abs(exact(u)) + 1e-30))));
  expect(worst).toBeLessThan(3);
});

const binary = {
  ...{ add: tf.add, sub: tf.sub, mul: tf.mul, div: tf.div, maximum: tf.maximum, minimum: tf.minimum },
  ...{ squaredDifference: tf.squaredDifference, greater: tf.greater, greaterEqual: tf.greaterEqual },
  ...{ less: tf.less, lessEqual: tf.lessEqual, equal: tf.equal, notEqual: tf.notEqual },
};

test.each(Object.entries(binary))('%s broadcasts', async (_, op) => {
  await fc.assert(
    fc.asyncProperty(shapes(0, 5, fc.integer({ min: 0, max: 6 })), seeds, async (shape, seed) => {
      const thinned = (bits: number) =>
        shape.map((size, axis) => ((bits >> axis) & 1 ? 1 : size)).slice(bits % (shape.length + 1));
      const [a, b] = [seed & 64 ? shape : thinned(seed), thinned(seed >> 7)];
      await agree(() => op(wildTensorOf(seed, a), wildTensorOf(seed + 1, b)), 3e-7);
      if (op !== tf.div) await agree(() => op(tensorOf(seed, a, 'int32'), tensorOf(seed + 1, b, 'int32')));
    }),
    { numRuns: 80 },
  );
  for (const [a, b] of [
    [[40, 5000], [5000]],
    [
      [40, 5000],
      [40, 1],
    ],
    [[200_000], []],
    [
      [2, 1, 90, 90],
      [2, 3, 90, 90],
    ],
  ] as const)
    await agree(() => [op(tensorOf(1, a), tensorOf(2, b)), op(tensorOf(2, b), tensorOf(1, a))], 3e-7);
  await agree(() => op(tensorOf(1, [3, 4], 'int32'), tf.add(tf.abs(tensorOf(2, [4], 'int32')), tf.scalar(1, 'int32'))));
});

test('where', async () => {
  for (const shape of [[0], [7], [3, 5], [100_003]])
    await agree(() =>
      tf.where(tensorOf(1, shape, 'bool') as tf.Tensor, wildTensorOf(2, shape), wildTensorOf(3, shape)),
    );
});

test('the tables of numbers end before the memory that is handed out', async () => {
  await useSimd();
  const end = (tf.backend() as SimdBackend).pool.call('tablesEnd');
  expect(end).toBeGreaterThan(3072);
  expect(end).toBeLessThanOrEqual(firstFreeAddress);
});
