/** BatchMatMul on wasm against float64 sums, with every error bound that of float32 summation in any order. */
import { stream } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference, extent, floats, on, tensorOf } from './results.ts';

interface Product {
  /** Batch dimensions of the result, and which of them each operand broadcasts. */
  readonly batch: { readonly size: number; readonly stretchA: boolean; readonly stretchB: boolean }[];
  readonly dropA: boolean;
  readonly M: number;
  readonly K: number;
  readonly N: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly special: number | undefined;
}

const products: fc.Arbitrary<Product> = fc.record({
  batch: fc.array(fc.record({ size: fc.integer({ min: 1, max: 3 }), stretchA: fc.boolean(), stretchB: fc.boolean() }), {
    maxLength: 2,
  }),
  dropA: fc.boolean(),
  M: extent,
  K: extent,
  N: extent,
  transposeA: fc.boolean(),
  transposeB: fc.boolean(),
  special: fc.option(fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY), {
    nil: undefined,
  }),
});

test('matMul: transposes, batches, broadcasting, empty axes, NaN and Inf', async () => {
  await fc.assert(
    fc.asyncProperty(products, fc.nat(), async (p, seed) => {
      const { M, K, N, transposeA, transposeB } = p;
      const batch = p.batch.map(({ size }) => size);
      const batchA = p.batch.map(({ size, stretchA }) => (stretchA ? 1 : size));
      const batchB = p.batch.map(({ size, stretchA, stretchB }) => (stretchB && !stretchA ? 1 : size));
      const leading = batchA.findIndex((size) => size !== 1);
      const shapeA = p.dropA ? (leading < 0 ? [] : batchA.slice(leading)) : batchA;
      const random = stream(seed, 'matmul');
      const a = floats(random, [...batchA, M, K]);
      const b = floats(random, [...batchB, K, N]);
      if (p.special !== undefined && a.length) a[seed % a.length] = p.special;
      if (p.special !== undefined && b.length && seed % 3 === 0) b[seed % b.length] = p.special;

      const [result] = await on('wasm', () => {
        const A = tf.tensor(a, [...shapeA, M, K]);
        const B = tf.tensor(b, [...batchB, K, N]);
        const flip = (x: tf.Tensor) =>
          tf.transpose(
            x,
            [...x.shape.keys()].map((_, i, all) => (i < all.length - 2 ? i : 2 * all.length - 3 - i)),
          );
        return tf.matMul(transposeA ? flip(A) : A, transposeB ? flip(B) : B, transposeA, transposeB);
      });
      expect(result!.shape).toEqual([...batch, M, N]);

      const strides = (from: number[]) => (index: number[]) =>
        from.reduce((offset, extent, axis) => offset * extent + (extent === 1 ? 0 : index[axis]!), 0);
      let at = 0;
      for (const index of indices(batch)) {
        const offsetA = strides(batchA)(index) * M * K;
        const offsetB = strides(batchB)(index) * K * N;
        for (let i = 0; i < M; i++)
          for (let j = 0; j < N; j++) {
            let [sum, magnitude] = [0, 0];
            for (let k = 0; k < K; k++) {
              const term = a[offsetA + i * K + k]! * b[offsetB + k * N + j]!;
              sum += term;
              magnitude += Math.abs(term);
            }
            const got = result!.values[at++]!;
            if (Number.isFinite(sum)) expect(Math.abs(got - sum)).toBeLessThanOrEqual((K + 1) * 2 ** -24 * magnitude);
            else expect(got).toBe(sum);
          }
      }
    }),
    { numRuns: 300 },
  );
});

function* indices(shape: number[]): Generator<number[]> {
  const count = shape.reduce((n, size) => n * size, 1);
  for (let i = 0; i < count; i++) {
    let rest = i;
    yield shape.reduceRight<number[]>((index, size) => {
      index.unshift(rest % size);
      rest = Math.floor(rest / size);
      return index;
    }, []);
  }
}

test('a right operand used again under another shape is not multiplied with the old one (stock does that)', async () => {
  const [once, twice, again] = await on('wasm', () => {
    const x = tf.reshape(tf.range(0, 24), [6, 4]);
    const ones = (n: number) => tf.ones([2, n]);
    tf.matMul(ones(6), x);
    tf.matMul(ones(6), x);
    return [tf.matMul(ones(6), x), tf.matMul(ones(4), tf.reshape(x, [4, 6])), tf.matMul(ones(6), x)] as tf.Tensor[];
  });
  expect(once!.values.slice(0, 4)).toEqual([60, 66, 72, 78]);
  expect(twice!.values.slice(0, 6)).toEqual([36, 40, 44, 48, 52, 56]);
  expect(again!.values).toEqual(once!.values);
});

test('int32 products are exact and int32', async () => {
  const [result] = await on('wasm', () => tf.matMul(tensorOf('a', [3, 50], 'int32'), tensorOf('b', [50, 7], 'int32')));
  const [expected] = await on('cpu', () => tf.matMul(tensorOf('a', [3, 50], 'int32'), tensorOf('b', [50, 7], 'int32')));
  expect(result).toEqual(expected);
  expect(result!.dtype).toBe('int32');
});

test('inner sizes that differ are named', async () => {
  await expect(on('wasm', () => tf.matMul(tf.ones([2, 3]), tf.ones([4, 5])))).rejects.toThrow(/inner sizes 3 and 4/);
});

test.each(['linear', 'relu', 'elu', 'sigmoid', 'relu6', 'leakyrelu', 'prelu'] as const)(
  'fused.matMul with %s: bias once, also with a batch and transposes',
  async (activation) => {
    const compute = () => {
      const a = tensorOf('a', [2, 60, 9]) as tf.Tensor3D;
      const b = tensorOf('b', [2, 8, 60]) as tf.Tensor3D;
      const bias = tensorOf('bias', [8]);
      const weights = activation === 'prelu' ? { preluActivationWeights: tensorOf('p', [8]) } : {};
      return tf.fused.matMul({
        a,
        b,
        transposeA: true,
        transposeB: true,
        bias,
        activation,
        ...weights,
        leakyreluAlpha: 0.3,
      });
    };
    // The cpu kernel does without the bias error of stock wasm, but broadcasts no batch: both operands have one here.
    const [result] = await on('wasm', compute);
    const [expected] = await on('cpu', compute);
    expect(difference(result!, expected!, 1e-5)).toBeUndefined();
  },
);
