/** What only moves numbers gives the same bits as the cpu backend. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { useSimd } from '../src/index.ts';
import { agree, numbers, seeds, shapes, tensorOf } from './agree.ts';

const dtypes = fc.constantFrom<tf.DataType>('float32', 'int32', 'bool');
const below = (next: () => number, n: number) => Math.floor(((next() + 1) / 2) * n);

test('transpose, any permutation', async () => {
  await fc.assert(
    fc.asyncProperty(shapes(0, 6, fc.integer({ min: 0, max: 7 })), dtypes, seeds, async (shape, dtype, seed) => {
      const next = numbers(seed);
      const perm = [...shape.keys()];
      for (let i = perm.length - 1; i > 0; i--) {
        const j = below(next, i + 1);
        [perm[i], perm[j]] = [perm[j]!, perm[i]!];
      }
      await agree(() => tf.transpose(tensorOf(seed, shape, dtype), perm));
    }),
    { numRuns: 300 },
  );
  for (const shape of [
    [300, 129],
    [8, 33, 4, 32],
    [70, 3, 128],
  ])
    for (const perm of [
      [1, 0],
      [0, 2, 1, 3],
      [2, 1, 0],
    ].filter(({ length }) => length === shape.length))
      await agree(() => tf.transpose(tensorOf(1, shape), perm));
});

test('slice, split, unstack, concat, stack, pad, tile', async () => {
  await fc.assert(
    fc.asyncProperty(shapes(1, 5, fc.integer({ min: 0, max: 6 })), dtypes, seeds, async (shape, dtype, seed) => {
      const next = numbers(seed);
      const begin = shape.map((extent) => below(next, extent + 1));
      const size = shape.map((extent, axis) => below(next, extent - begin[axis]! + 1));
      const axis = seed % shape.length;
      const x = () => tensorOf(seed, shape, dtype);
      const first = shape[axis]! >> 1;
      const pads = shape.map(() => [below(next, 3), below(next, 3)] as [number, number]);
      const reps = shape.map(() => 1 + below(next, 3));
      const rest = begin.map((b, i) => (i === axis ? b : 0));
      await agree(() => [
        tf.slice(x(), begin, size),
        ...tf.split(x(), [first, shape[axis]! - first], axis),
        ...(shape[axis] ? tf.unstack(x(), axis) : []),
        tf.concat([x(), tf.slice(x(), rest), x()], axis),
        tf.stack([x(), x()], seed % (shape.length + 1)),
        tf.stack([x()], -1),
        ...(shape.every(Boolean) ? tf.unstack(x(), -1) : []),
        tf.tile(x(), reps),
        ...(dtype === 'bool' ? [] : [tf.pad(x(), pads, 7)]),
      ]);
    }),
    { numRuns: 150 },
  );
  await agree(() => [
    tf.slice(tensorOf(1, [50, 3000]), [1, 3], [40, 2000]),
    tf.concat([tensorOf(1, [50, 3000]), tensorOf(2, [50, 30])], 1),
  ]);
});

test('sizes that do not add up to their axis are refused', async () => {
  await useSimd();
  for (const sizes of [3, [1, 2], [1, -1, -1], [5, -1], [1.5, 2.5]])
    expect(() => tf.split(tf.ones([2, 4]), sizes, 1)).toThrow(/an axis of 4 cannot be cut into/);
});

test('gather along any axis, its gradient, and sums of segments', async () => {
  await fc.assert(
    fc.asyncProperty(shapes(1, 4, fc.integer({ min: 1, max: 20 })), dtypes, seeds, async (shape, dtype, seed) => {
      const next = numbers(seed);
      const axis = seed % shape.length;
      const ids = Int32Array.from({ length: 2 * (seed % 5) }, () => below(next, shape[axis]!));
      const indices = () => tf.tensor(ids, [2, seed % 5], 'int32');
      await agree(() => tf.gather(tensorOf(seed, shape, dtype), indices(), axis));
      const gradient = tf.grad((x) => tf.sum(tf.square(tf.gather(x, indices().flatten()))));
      if (axis === 0 && ids.length) await agree(() => gradient(tensorOf(seed, shape)), 1e-5);
    }),
  );
  await agree(() => tf.gather(tensorOf(1, [3, 7, 4]), tf.tensor2d([6, 0, 2, 1, 5, 3], [3, 2], 'int32'), 1, 1));
  await agree(() => tf.scatterND(tf.tensor2d([1, 1, 0, 1], [4, 1], 'int32'), tensorOf(1, [4, 37]), [3, 37]), 1e-6);
  await useSimd();
  expect(() => tf.gather(tf.ones([4, 2]), tf.tensor1d([4], 'int32'))).toThrow('the index value 4 is not in [0, 3]');
  expect(() => tf.scatterND(tf.tensor2d([3], [1, 1], 'int32'), tf.ones([1, 2]), [3, 2])).toThrow('not in [0, 2]');
});

test('segments: rows out of range are left out, NaN stays in its segment', async () => {
  await useSimd();
  const rows = tf.tensor2d([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, Number.NaN, 11], [6, 2]);
  const sums = tf.unsortedSegmentSum(rows, tf.tensor1d([2, 0, 2, 7, -1, 1], 'int32'), 4);
  expect(Array.from(sums.dataSync())).toEqual([3, 4, Number.NaN, 11, 6, 8, 0, 0]);
  tf.dispose([rows, sums]);
});

test('fill, zeros and ones, one-hot', async () => {
  await agree(() => [
    tf.fill([3, 2], 1.5),
    tf.fill([0], 2),
    tf.zerosLike(tensorOf(1, [5])),
    tf.onesLike(tensorOf(1, [5], 'int32')),
  ]);
  for (const dtype of ['float32', 'int32', 'bool'] as const)
    await agree(() => tf.oneHot(tf.tensor2d([4, 3, -1, 2, 9, 1], [2, 3], 'int32'), 4, 1, 0, dtype as 'float32'));
});

test('cast from every type to every type', async () => {
  const types = ['float32', 'int32', 'bool'] as const;
  for (const from of types)
    for (const to of types)
      await agree(() => [tf.cast(tensorOf(1, [33], from), to), tf.add(tf.cast(tensorOf(1, [33], from), to), 0.5)]);
  await agree(() => tf.cast(tf.tensor1d([256, 0.5, 0, -0, Number.NaN, -3, 2.9, -2.9]), 'bool'));
  await agree(() => tf.cast(tf.tensor1d([256, 0.5, 0, -0, -3, 2.9, -2.9]), 'int32'));
  await agree(() => tf.real(tf.cast(tensorOf(1, [4], 'int32'), 'complex64')));
});
