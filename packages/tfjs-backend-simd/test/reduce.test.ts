/** Sums, means, maxima and softmax against the cpu backend. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { test } from 'vitest';
import { agree, seeds, shapes, tensorOf, wildTensorOf } from './agree.ts';

const ops = { sum: tf.sum, mean: tf.mean, max: tf.max };

test.each(Object.entries(ops))('%s over any axes', async (_, op) => {
  const each = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 4, max: 40 }));
  await fc.assert(
    fc.asyncProperty(shapes(0, 4, each), seeds, fc.boolean(), async (shape, seed, keep) => {
      const axes = [...shape.keys()].filter((axis) => seed & (1 << axis));
      await agree(() => op(tensorOf(seed, shape), axes.length ? axes : undefined, keep), 1e-5);
    }),
    { numRuns: 150 },
  );
  for (const shape of [[2000, 130], [130, 2000], [7, 300, 33], [100_000]])
    for (const axis of shape.keys()) await agree(() => op(tensorOf(1, shape), axis), 2e-5);
});

test('running sums: the same bits, from either end, with and without the element itself', async () => {
  await fc.assert(
    fc.asyncProperty(shapes(1, 4), seeds, fc.boolean(), fc.boolean(), async (shape, seed, exclusive, reverse) => {
      const axis = seed % shape.length;
      await agree(() => [
        tf.cumsum(tensorOf(seed, shape), axis, exclusive, reverse),
        tf.cumsum(wildTensorOf(seed, shape), shape.length - 1, exclusive, reverse),
      ]);
    }),
  );
  await agree(() => tf.cumsum(tensorOf(1, [130, 700]), 1));
});

test('NaN and infinity stay in their row or column', async () => {
  for (const op of Object.values(ops))
    for (const axis of [0, 1]) await agree(() => op(wildTensorOf(5, [37, 41], false), axis), 1e-5);
});

test.each([
  ['softmax', (x: tf.Tensor) => tf.softmax(x)],
  ['logSoftmax', (x: tf.Tensor) => tf.logSoftmax(x)],
] as const)('%s, with its gradient', async (_, op) => {
  await fc.assert(
    fc.asyncProperty(shapes(1, 4, fc.integer({ min: 0, max: 21 })), seeds, async (shape, seed) => {
      const x = () => tf.mul(tensorOf(seed, shape), 30);
      await agree(() => [op(x()), tf.grad((u) => tf.sum(tf.mul(op(u), tensorOf(seed + 1, shape))))(x())], 3e-5);
    }),
  );
  // A row without a finite maximum is NaN throughout, and the others are not touched.
  const row = [0, Number.NEGATIVE_INFINITY, 3, Number.NEGATIVE_INFINITY, 1];
  await agree(
    () =>
      op(
        tf.tensor2d([
          row,
          row.map(() => Number.NEGATIVE_INFINITY),
          [1, 2, Number.NaN, 3, 4],
          [1, 2, Number.POSITIVE_INFINITY, 3, 4],
          row.map(() => -1e9),
        ]),
      ),
    1e-6,
  );
});

test.each([0x7fc00000, 0x7fc00001, 0xffffffff, 0x7fc00123])(
  'softmax: a NaN with the bits %x is one, too',
  async (bits) => {
    await agree(() => {
      const row = new Float32Array(16).fill(1);
      new Uint32Array(row.buffer)[3] = bits;
      const x = tf.tensor2d(row, [1, 16]);
      return [tf.softmax(x), tf.logSoftmax(x)];
    });
  },
);
