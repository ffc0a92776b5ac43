/** Stock kernels and those put in their place, against the cpu backend, over random shapes, axes and element types. */
import { below, stream } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Compute, difference, on, shapes, tensorOf } from './results.ts';

const dtypes = fc.constantFrom<tf.DataType>('float32', 'int32', 'bool');
const numbers = fc.constantFrom<tf.DataType>('float32', 'int32');

async function agree(compute: Compute, tolerance = 0): Promise<void> {
  const expected = await on('cpu', compute);
  const actual = await on('wasm', compute);
  expect(actual.length).toBe(expected.length);
  for (const [i, result] of actual.entries()) expect(difference(result, expected[i]!, tolerance)).toBeUndefined();
}

test('transpose, any permutation', async () => {
  await fc.assert(
    fc.asyncProperty(shapes({ min: 1, max: 5 }), dtypes, fc.nat(), async (shape, dtype, seed) => {
      const random = stream(seed, 'perm');
      const perm = [...shape.keys()];
      for (let i = perm.length - 1; i > 0; i--) {
        const j = below(random, i + 1);
        [perm[i], perm[j]] = [perm[j]!, perm[i]!];
      }
      await agree(() => tf.transpose(tensorOf('x', shape, dtype), perm));
    }),
    { numRuns: 150 },
  );
});

test('sum over any axes', async () => {
  const each = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 4, max: 20 }));
  await fc.assert(
    fc.asyncProperty(
      shapes({ min: 1, max: 4 }, each),
      numbers,
      fc.nat(),
      fc.boolean(),
      async (shape, dtype, bits, keep) => {
        const axes = [...shape.keys()].filter((axis) => bits & (1 << axis));
        await agree(() => tf.sum(tensorOf('x', shape, dtype), axes.length ? axes : undefined, keep), 2e-5);
      },
    ),
    { numRuns: 200 },
  );
});

test('gather over any axis, with and without batch dimensions', async () => {
  await fc.assert(
    fc.asyncProperty(
      shapes({ min: 1, max: 4 }, fc.integer({ min: 1, max: 6 })),
      dtypes,
      fc.nat(),
      async (shape, dtype, seed) => {
        const axis = seed % shape.length;
        const count = seed % 5;
        const random = stream(seed, 'gather');
        const ids = Int32Array.from({ length: 2 * count }, () => below(random, shape[axis]!));
        await agree(() => tf.gather(tensorOf('x', shape, dtype), tf.tensor(ids, [2, count], 'int32'), axis));
      },
    ),
  );
  // The cpu kernel is right here; stock wasm mistakes the rows of the indices.
  await agree(() => tf.gather(tensorOf('x', [3, 7, 4]), tf.tensor2d([6, 0, 2, 1, 5, 3], [3, 2], 'int32'), 1, 1));
});

test('gather names an index that is out of range', async () => {
  for (const index of [-1, 4])
    await expect(on('wasm', () => tf.gather(tf.ones([4, 2]), tf.tensor1d([index], 'int32')))).rejects.toThrow(
      `gather: the index ${index} is not in [0, 3]`,
    );
});

test('scatterND adds rows that meet; scatterND and gatherND name an index that is out of range', async () => {
  const [ids, rows] = [() => tf.tensor2d([1, 1, 0, 1], [4, 1], 'int32'), () => tensorOf('rows', [4, 3])];
  await agree(() => tf.scatterND(ids(), rows(), [3, 3]), 1e-6);
  await agree(() => tf.gatherND(rows(), tf.tensor2d([3, 2, 0, 1], [2, 2], 'int32')));
  await expect(on('wasm', () => tf.scatterND(ids(), rows(), [1, 3]))).rejects.toThrow('the index 1 is not in [0, 0]');
  const outside = () => tf.tensor2d([0, 3], [1, 2], 'int32');
  await expect(on('wasm', () => tf.gatherND(rows(), outside()))).rejects.toThrow('the index 3 is not in [0, 2]');
});

test('unsortedSegmentSum: rows of one segment add up, rows out of range are dropped, NaN stays in its segment', async () => {
  const [floats, ints, none] = await on('wasm', () => {
    const ids = tf.tensor1d([2, 0, 2, 7, -1, 1], 'int32');
    const rows = [
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
      [9, 10],
      [Number.NaN, 11],
    ];
    return [
      tf.unsortedSegmentSum(tf.tensor2d(rows), ids, 4),
      tf.unsortedSegmentSum(
        tf.tensor2d(rows.slice(0, 4).flat(), [4, 2], 'int32'),
        tf.slice(ids, 0, 4) as tf.Tensor1D,
        3,
      ),
      tf.unsortedSegmentSum(tf.zeros([0, 2]), tf.tensor1d([], 'int32'), 2),
    ];
  });
  expect(floats).toEqual({ shape: [4, 2], dtype: 'float32', values: [3, 4, Number.NaN, 11, 6, 8, 0, 0] });
  expect(ints).toEqual({ shape: [3, 2], dtype: 'int32', values: [3, 4, 0, 0, 6, 8] });
  expect(none!.values).toEqual([0, 0, 0, 0]);
});

test('tile and broadcastTo', async () => {
  await fc.assert(
    fc.asyncProperty(shapes({ min: 1, max: 4 }), dtypes, fc.nat(), async (shape, dtype, seed) => {
      const reps = shape.map((_, axis) => 1 + ((seed >> axis) % 4));
      await agree(() => tf.tile(tensorOf('x', shape, dtype), reps));
    }),
  );
  await agree(() => tf.broadcastTo(tensorOf('x', [3, 1, 5, 1]), [2, 3, 4, 5, 6]));
});

const binary = {
  ...{ maximum: tf.maximum, minimum: tf.minimum, pow: tf.pow, mod: tf.mod, atan2: tf.atan2 },
  ...{ equal: tf.equal, notEqual: tf.notEqual, greater: tf.greater, greaterEqual: tf.greaterEqual },
  ...{ less: tf.less, lessEqual: tf.lessEqual, add: tf.add, sub: tf.sub, mul: tf.mul, div: tf.div },
  squaredDifference: tf.squaredDifference,
};
test.each(Object.entries(binary))('%s broadcasts', async (name, op) => {
  await fc.assert(
    fc.asyncProperty(shapes({ min: 1, max: 4 }), numbers, fc.nat(), async (shape, dtype, seed) => {
      const drop = seed % shape.length;
      const other = shape.map((size, axis) => ((seed >> axis) & 1 ? 1 : size)).slice(drop);
      // Powers of negative numbers are NaN, negative powers of integers and quotients by 0 undefined: left out.
      const positive = (x: tf.Tensor) => (/mod|div|pow/.test(name) ? tf.add(tf.abs(x), tf.scalar(1, dtype)) : x);
      const small = (x: tf.Tensor) => (name === 'pow' && dtype === 'int32' ? tf.minimum(x, tf.scalar(3, dtype)) : x);
      await agree(() => op(positive(tensorOf('a', shape, dtype)), small(positive(tensorOf('b', other, dtype)))), 1e-5);
    }),
    { numRuns: 40 },
  );
});

test.each(['and', 'or', 'xor'] as const)('logical %s broadcasts', async (name) => {
  const op = { and: tf.logicalAnd, or: tf.logicalOr, xor: tf.logicalXor }[name];
  await agree(() => op(tensorOf('a', [3, 1, 4], 'bool'), tensorOf('b', [5, 1], 'bool')));
});

test('slice, split, unstack, concat, stack', async () => {
  await fc.assert(
    fc.asyncProperty(
      shapes({ min: 1, max: 5 }, fc.integer({ min: 0, max: 6 })),
      dtypes,
      fc.nat(),
      async (shape, dtype, seed) => {
        const random = stream(seed, 'slice');
        const begin = shape.map((extent) => below(random, extent + 1));
        const size = shape.map((extent, axis) => below(random, extent - begin[axis]! + 1));
        const axis = seed % shape.length;
        const x = () => tensorOf('x', shape, dtype);
        const first = shape[axis]! >> 1;
        await agree(() => tf.slice(x(), begin, size));
        await agree(() => tf.split(x(), [first, shape[axis]! - first], axis));
        if (shape[axis]) await agree(() => tf.unstack(x(), axis));
        await agree(() =>
          tf.concat(
            [
              x(),
              tf.slice(
                x(),
                begin.map((b, i) => (i === axis ? b : 0)),
              ),
              x(),
            ],
            axis,
          ),
        );
        await agree(() => tf.stack([x(), tensorOf('y', shape, dtype)], seed % (shape.length + 1)));
      },
    ),
  );
});

test('oneHot in every type, cast to every type', async () => {
  for (const dtype of ['float32', 'int32', 'bool'] as const) {
    await agree(() => tf.oneHot(tf.tensor2d([4, 3, -1, 2, 9, 1], [2, 3], 'int32'), 4, 1, 0, dtype as 'float32'));
    for (const from of ['float32', 'int32', 'bool'] as const)
      await agree(() => tf.cast(tf.mul(tensorOf('x', [40], from), tf.scalar(1, from)), dtype as 'float32'));
  }
  await agree(() => tf.cast(tf.tensor1d([256, 0.5, 0, -0, Number.NaN, -3]), 'bool'));
  const [soft] = await on('wasm', () => tf.oneHot(tf.tensor1d([1], 'int32'), 3, 0.875, 0.0625, 'float32'));
  expect(soft!.values).toEqual([0.0625, 0.875, 0.0625]);
});

const floatOnly = { ceil: tf.ceil, cos: tf.cos, elu: tf.elu, floor: tf.floor, log: tf.log, rsqrt: tf.rsqrt };
const moreFloatOnly = { sigmoid: tf.sigmoid, sin: tf.sin, sqrt: tf.sqrt, tanh: tf.tanh, cosh: tf.cosh, erf: tf.erf };
const anyType = {
  ...{ abs: tf.abs, asinh: tf.asinh, atan: tf.atan, exp: tf.exp, expm1: tf.expm1, log1p: tf.log1p, neg: tf.neg },
  ...{ isFinite: tf.isFinite, isInf: tf.isInf, isNaN: tf.isNaN, leakyRelu: tf.leakyRelu, logSigmoid: tf.logSigmoid },
  ...{ reciprocal: tf.reciprocal, relu: tf.relu, relu6: tf.relu6, round: tf.round, selu: tf.selu, sign: tf.sign },
  ...{ sinh: tf.sinh, softplus: tf.softplus, square: tf.square, step: tf.step },
};
const special = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  0,
  1,
  -1,
  88.8,
  -104,
  -87.5,
  0.5,
  1e-8,
];

test.each(Object.entries({ ...floatOnly, ...moreFloatOnly, ...anyType }))('%s of special values', async (_, op) => {
  await agree(() => op(tf.tensor1d(special)), 1e-5);
});

test.each(Object.entries(anyType))('%s of int32 and bool', async (_, op) => {
  for (const dtype of ['int32', 'bool'] as const)
    for (const shape of [[], [7], [0, 3]]) await agree(() => op(tensorOf('x', shape, dtype)), 1e-5);
});

test('maximum, minimum and clip keep NaN', async () => {
  const x = [Number.NaN, 1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  await agree(() => {
    const [a, b] = [tf.tensor2d(x, [5, 1]), tf.tensor2d(x, [1, 5])];
    return [tf.maximum(a, b), tf.minimum(a, b), tf.clipByValue(a, -1, 2), tf.relu6(a)];
  });
});

test('reductions of nothing', async () => {
  const empty = () => tf.zeros([3, 0]);
  await agree(() => [
    tf.sum(empty(), 1),
    tf.prod(empty(), 1),
    tf.max(empty(), 1),
    tf.min(empty(), 1),
    tf.mean(empty(), 1),
  ]);
});

test('kernels that stock wasm lacks run on the cpu backend', async () => {
  await agree(() => tf.einsum('bij,bjk->bik', tensorOf('a', [2, 3, 4]), tensorOf('b', [2, 4, 5])), 1e-6);
  await agree(() => {
    const image = tensorOf('image', [1, 6, 6, 2]) as tf.Tensor4D;
    return tf.grad((w) => tf.sum(tf.square(tf.conv2d(image, w as tf.Tensor4D, 1, 'same'))))(
      tensorOf('w', [2, 2, 2, 3]),
    );
  }, 1e-5);
});

test('complex numbers are refused by name', async () => {
  await expect(on('wasm', () => tf.spectral.rfft(tf.ones([4])))).rejects.toThrow(
    /wasm backend has no kernel Complex.*Use the backend 'cpu'/s,
  );
});
