import type { Scalar, Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  crossEntropy,
  cumulativeSum,
  gatherRows,
  rmsStandardize,
  scatterRows,
  standardize,
  stream,
} from '../src/index.ts';
import { activations } from '../src/kernels/activation.ts';
import { dropout } from '../src/kernels/dropout.ts';
import { largest, randomTensor } from './fixtures.ts';

beforeAll(() => tf.setBackend('cpu'));

/** Gradients of Σ w·f(x), hand-written against tfjs's own of the composition. */
function sameGradient(f: (x: Tensor) => Tensor, composed: (x: Tensor) => Tensor, shape: number[]) {
  const x = randomTensor(shape, 'x');
  const w = randomTensor(f(x).shape, 'w');
  const grad = (g: (x: Tensor) => Tensor) => tf.grad((u: Tensor) => tf.sum(tf.mul(g(u), w)) as Scalar)(x);
  expect(largest(f(x), composed(x))).toBeLessThan(1e-5);
  expect(largest(grad(f), grad(composed))).toBeLessThan(2e-5);
}

describe('norms', () => {
  it('standardize equals its composition, forward and backward', () => {
    const composed = (x: Tensor) => {
      const { mean, variance } = tf.moments(x, -1, true);
      return tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-5)));
    };
    sameGradient((x) => standardize(x, 1e-5), composed, [6, 7]);
    sameGradient((x) => standardize(x, 1e-5), composed, [2, 3, 4, 5]);
  });

  it('rmsStandardize equals its composition, forward and backward', () => {
    const composed = (x: Tensor) => tf.div(x, tf.sqrt(tf.add(tf.mean(tf.square(x), -1, true), 1e-6)));
    sameGradient((x) => rmsStandardize(x, 1e-6), composed, [6, 7]);
  });
});

describe('crossEntropy', () => {
  it('equals −log softmax at the label, with gradient softmax − one-hot', () => {
    const labels = Int32Array.from([3, 0, 4, 2]);
    const composed = (x: Tensor) =>
      tf.neg(tf.sum(tf.mul(tf.logSoftmax(x as Tensor2D), tf.oneHot(tf.tensor1d(labels, 'int32'), 5)), 1));
    sameGradient((x) => crossEntropy(x as Tensor2D, labels), composed, [4, 5]);
  });

  it('scores nothing where the label is negative', () => {
    const x = randomTensor([3, 5], 'x') as Tensor2D;
    const labels = Int32Array.from([1, -1, 2]);
    expect(Math.abs(crossEntropy(x, labels).arraySync()[1]!)).toBe(0);
    const gradient = tf
      .grad((u: Tensor) => tf.sum(crossEntropy(u as Tensor2D, labels)) as Scalar)(x)
      .arraySync() as number[][];
    expect(gradient[1]!.map(Math.abs)).toEqual([0, 0, 0, 0, 0]);
    expect(Math.abs(gradient[0]![0]!)).toBeGreaterThan(0);
  });
});

describe('cumulativeSum', () => {
  const triangle = (n: number, fromEnd: boolean) =>
    tf.tensor2d(
      Float32Array.from({ length: n * n }, (_, i) => {
        const [l, j] = [Math.floor(i / n), i % n];
        return (fromEnd ? l >= j : l <= j) ? 1 : 0;
      }),
      [n, n],
    );

  it.each([false, true])('is a product with a triangle of ones, forward and backward (fromEnd %s)', (fromEnd) => {
    const composed = (x: Tensor) => tf.matMul(x.reshape([-1, 5]), triangle(5, fromEnd)).reshape(x.shape);
    for (const shape of [[5], [3, 5], [2, 3, 4, 5]])
      sameGradient((x) => cumulativeSum(x, { fromEnd }), composed, shape);
  });
});

describe('rows by index', () => {
  const indices = () => tf.tensor1d([2, 0, 2, 2], 'int32') as Tensor1D;

  it('gatherRows has tfjs’s values and gradient', () => {
    sameGradient(
      (x) => gatherRows(x as Tensor2D, indices()),
      (x) => tf.gather(x, indices()),
      [4, 3],
    );
  });

  it('scatterRows sums rows with the same index, and leaves the others 0', () => {
    const oneHot = () => tf.oneHot(indices(), 5).toFloat().transpose();
    sameGradient(
      (x) => scatterRows(x as Tensor2D, indices(), 5),
      (x) => tf.matMul(oneHot(), x as Tensor2D),
      [4, 3],
    );
  });

  it('work inside a tidy that ends before the gradient is taken, and leave nothing behind', () => {
    const x = randomTensor([4, 3], 'x');
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      const there = (u: Tensor) => tf.tidy(() => scatterRows(gatherRows(u as Tensor2D, indices()), indices(), 4));
      const gradient = tf.grad((u: Tensor) => tf.sum(there(u)) as Scalar)(x);
      expect(gradient.arraySync()).toEqual([1, 0, 3, 0].map((times) => [times, times, times]));
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('activations', () => {
  // Values of x·Φ(x) and its tanh form at −2, −0.5, 1, 3 (PyTorch 2.13, float64).
  it.each([
    ['gelu', [-0.04550026, -0.15426877, 0.84134475, 2.99595031]],
    ['gelu-tanh', [-0.04540231, -0.15428599, 0.84119199, 2.99636261]],
    ['swiglu', [-0.23840584, -0.18877033, 0.73105858, 2.85772238]],
    ['relu', [0, 0, 1, 3]],
  ])('%s', (name, expected) => {
    const y = activations[name]!.apply(tf.tensor2d([[-2, -0.5, 1, 3]])).dataSync();
    expected.forEach((value, i) => {
      expect(y[i]).toBeCloseTo(value, 5);
    });
  });
});

describe('dropout', () => {
  it('keeps the mean, drops the share asked for, and repeats for the same stream', () => {
    const x = tf.ones([100, 100]);
    const [a, b] = [dropout(x, 0.3, stream(1, 'd')), dropout(x, 0.3, stream(1, 'd'))];
    expect(largest(a, b)).toBe(0);
    const kept = a.dataSync().filter((value) => value > 0).length / 10_000;
    expect(Math.abs(kept - 0.7)).toBeLessThan(0.025);
    expect(a.max().dataSync()[0]).toBeCloseTo(1 / 0.7, 6);
    expect(dropout(x, 0.3, undefined)).toBe(x);
  });

  it('draws entries that know nothing of each other: neighbours, rows, and masks of one stream', () => {
    const random = stream(2, 'd');
    const masks = Array.from({ length: 2 }, () =>
      dropout(tf.ones([40_000]), 0.5, random)
        .dataSync()
        .map(Math.sign),
    );
    const agreement = (a: (i: number) => number, b: (i: number) => number) => {
      const n = 30_000;
      return Array.from({ length: n }, (_, i) => Number(a(i) === b(i))).reduce((sum, same) => sum + same, 0) / n;
    };
    // Half of all pairs, within five standard deviations.
    const bound = 5 * Math.sqrt(0.25 / 30_000);
    for (const shift of [1, 2, 3, 4, 64, 128, 1024, 4096])
      expect(
        Math.abs(
          agreement(
            (i) => masks[0]![i]!,
            (i) => masks[0]![i + shift]!,
          ) - 0.5,
        ),
      ).toBeLessThan(bound);
    expect(
      Math.abs(
        agreement(
          (i) => masks[0]![i]!,
          (i) => masks[1]![i]!,
        ) - 0.5,
      ),
    ).toBeLessThan(bound);
  });
});
