/** Products of every transpose, broadcast and size against the cpu backend. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { test } from 'vitest';
import { agree, extent, seeds, tensorOf } from './agree.ts';

const stored = (batch: number[], rows: number, columns: number, transposed: boolean) =>
  transposed ? [...batch, columns, rows] : [...batch, rows, columns];

test('any sizes, transposes and batches', async () => {
  const batches = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      ...([extent, extent, extent, fc.boolean(), fc.boolean(), batches, seeds] as const),
      async (M, K, N, transposeA, transposeB, batch, seed) => {
        const thinned = (bits: number) => batch.map((size, axis) => ((bits >> axis) & 1 ? 1 : size));
        const a = () => tensorOf(seed, stored(thinned(seed), M, K, transposeA));
        const b = () => tensorOf(seed + 1, stored(thinned(seed >> 3), K, N, transposeB));
        // The cpu kernel pairs the items of a batch wrongly when both operands are stretched: stretch them for it.
        const full = (x: tf.Tensor) =>
          tf.getBackend() === 'cpu' ? tf.broadcastTo(x, [...thinned(seed & (seed >> 3)), ...x.shape.slice(-2)]) : x;
        await agree(() => tf.matMul(full(a()), full(b()), transposeA, transposeB), 1e-5);
      },
    ),
    { numRuns: 300 },
  );
});

test.each([
  [1, 64, 100],
  [3, 33, 17],
  [4, 5, 8],
  [6, 1, 8],
  [97, 513, 9],
  [200, 1030, 70],
  [96, 512, 64],
  [300, 20, 200],
])('%i×%i×%i, every transpose', async (M, K, N) => {
  for (const transposeA of [false, true])
    for (const transposeB of [false, true])
      await agree(
        () =>
          tf.matMul(
            tensorOf(1, stored([2], M, K, transposeA)),
            tensorOf(2, stored([2], K, N, transposeB)),
            transposeA,
            transposeB,
          ),
        3e-5,
      );
});

test('NaN and infinity reach every element that they belong to, and no other', async () => {
  await agree(() => {
    const a = tf.tensor2d(
      Array.from({ length: 10 * 9 }, (_, i) => (i === 13 ? Number.NaN : i === 50 ? Number.POSITIVE_INFINITY : i % 7)),
      [10, 9],
    );
    return [tf.matMul(a, tensorOf(2, [9, 11]) as tf.Tensor2D), tf.matMul(tensorOf(3, [11, 10]) as tf.Tensor2D, a)];
  }, 1e-5);
});

test('integers, and gradients', async () => {
  await agree(() => tf.matMul(tensorOf(1, [3, 4], 'int32'), tensorOf(2, [4, 5], 'int32')));
  await agree(() => {
    const [a, b] = [tensorOf(1, [2, 9, 20]), tensorOf(2, [2, 30, 20])];
    return tf.grads((x, y) => tf.sum(tf.square(tf.matMul(x!, y!, false, true))))([a, b]);
  }, 1e-4);
});
