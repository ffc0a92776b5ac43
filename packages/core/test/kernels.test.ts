import type { Scalar, Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  crossEntropy,
  cumulativeSum,
  gatherRows,
  layerNorm,
  PosencError,
  rmsNorm,
  rmsStandardize,
  rotatePairs,
  scatterRows,
  standardize,
  stream,
} from '../src/index.ts';
import { activations } from '../src/kernels/activation.ts';
import { type AttentionOptions, streamingAttention } from '../src/kernels/attention-kernel.ts';
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

describe('crossEntropy at the edge', () => {
  const withGradient = (x: Tensor2D, labels: number[]) => {
    const f = (u: Tensor) => crossEntropy(u as Tensor2D, Int32Array.from(labels));
    const gradient = tf.grad((u: Tensor) => tf.sum(f(u)) as Scalar)(x);
    return [f(x), gradient].map((t) => Array.from(t.dataSync(), (value) => value + 0)); // −0 is 0
  };

  it('of one class there is nothing to learn', () => {
    expect(withGradient(tf.tensor2d([[3], [-2], [5]]), [0, 0, -1])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  it('a logit of −∞ is a class of probability 0: −log ½ from two others alike', () => {
    const x = tf.tensor2d([
      [1, Number.NEGATIVE_INFINITY, 1],
      [Number.NEGATIVE_INFINITY, 1, 1],
    ]);
    const [loss, gradient] = withGradient(x, [0, -1]);
    expect(loss![0]).toBeCloseTo(Math.LN2, 6);
    expect(loss![1]).toBe(0);
    [-0.5, 0, 0.5, 0, 0, 0].forEach((value, i) => {
      expect(gradient![i]).toBeCloseTo(value, 6);
    });
  });
});

describe('inputs that a fused kernel would read as they are not are refused, whatever the backend', () => {
  const ints = (...shape: number[]) => tf.ones(shape, 'int32');
  const [c, s] = [tf.ones<tf.Rank.R4>([1, 1, 3, 2]), tf.ones<tf.Rank.R4>([1, 1, 3, 2])];
  const u = tf.ones<tf.Rank.R4>([2, 2, 3, 4]);
  const logits = tf.ones<tf.Rank.R2>([6, 3]);
  const gate = tf.ones<tf.Rank.R2>([2, 3]);
  const swiglu = activations.swiglu!.apply;
  const heads = (numHeads: number, length: number, width: number) => tf.ones<tf.Rank.R4>([1, numHeads, length, width]);
  const mask = { causal: true, numQueries: 2, numKeys: 3 };
  const grid = (cols: number, rows = 1) => ({ rows, cols, data: new Int32Array(rows * cols) });
  const band = { offsets: new Int32Array(4), queryPlaces: grid(2), keyPlaces: grid(3) };
  const attend = (options: Partial<AttentionOptions>, k = heads(2, 3, 8), v = heads(2, 3, 5)) =>
    streamingAttention(heads(4, 2, 8), k, v, { scale: 1, ...options });

  it.each<[string, () => unknown, string]>([
    ['layerNorm: x', () => layerNorm(ints(1, 3), tf.ones([3]), undefined, 1e-5), 'layerNorm: x is int32 [1, 3]'],
    [
      'layerNorm: gain',
      () => layerNorm(tf.ones([1, 3]), tf.ones([1]), undefined, 1e-5),
      'layerNorm: gain is float32 [1], and float32 [3] is wanted',
    ],
    [
      'layerNorm: bias',
      () => layerNorm(tf.ones([1, 3]), tf.ones([3]), ints(3), 1e-5),
      'layerNorm: bias is int32 [3], and float32 [3] is wanted',
    ],
    ['rmsNorm: gain', () => rmsNorm(tf.ones([1, 4]), tf.ones([1, 4]), 1e-5), 'rmsNorm: gain is float32 [1, 4]'],
    ['rmsNorm: x', () => rmsNorm(ints(1, 4), tf.ones([4]), 1e-5), 'rmsNorm: x is int32'],
    ['rotation: u', () => rotatePairs(tf.cast(u, 'int32'), { cos: c, sin: s }, 'half'), 'rotation: u is int32'],
    ['rotation: cos', () => rotatePairs(u, { cos: tf.cast(c, 'int32'), sin: s }, 'half'), 'rotation: cos is int32'],
    ['rotation: per head', () => rotatePairs(u, { cos: heads(2, 3, 2), sin: s }, 'half'), 'rotation: cos is'],
    [
      'rotation: sin',
      () => rotatePairs(u, { cos: c, sin: heads(1, 3, 1) }, 'half'),
      'rotation: sin is float32 [1, 1, 3, 1], and float32 [1, 1, 3, 2] is wanted',
    ],
    ['dropout', () => dropout(ints(4), 0.5, stream(1, 'd')), 'dropout: x is int32 [4], and float32 is wanted'],
    [
      'too few labels',
      () => crossEntropy(logits, Int32Array.of(0, 1)),
      'crossEntropy: logits is float32 [6, 3], and float32 [2, V] is wanted',
    ],
    ['too many labels', () => crossEntropy(logits, new Int32Array(7)), 'float32 [7, V] is wanted'],
    [
      'a label too high',
      () => crossEntropy(logits, Int32Array.of(0, 0, 3, 0, 0, 0)),
      'crossEntropy: the label 3 is not below the 3 classes',
    ],
    ['up', () => swiglu(gate, tf.ones([1, 3])), 'silu: up is float32 [1, 3], and float32 [2, 3] is wanted'],
    ['gelu', () => activations.gelu!.apply(tf.cast(gate, 'int32')), 'gelu: x is int32 [2, 3]'],
    ['attention: q and k', () => attend({}, heads(2, 3, 7)), 'attention: k is float32 [1, 2, 3, 7]'],
    ['attention: k and v', () => attend({}, heads(2, 3, 8), heads(2, 2, 5)), 'attention: v is float32 [1, 2, 2, 5]'],
    ['attention: heads', () => attend({}, heads(3, 3, 8), heads(3, 3, 5)), '4 heads of queries are no multiple of 3'],
    ['attention: mask', () => attend({ mask: { ...mask, numKeys: 4 } }), 'a mask for 2 queries and 4 keys'],
    ['attention: real', () => attend({ mask: { ...mask, real: grid(2) } }), 'real tokens [1, 2], and [1|1, 3]'],
    ['attention: segments', () => attend({ mask: { ...mask, segments: grid(3, 2) } }), 'segments [2, 3], and [1|1, 3]'],
    [
      'attention: bias',
      () => attend({ bias: { ...band, row: tf.cast(tf.ones([4, 4]), 'int32') as Tensor2D } }),
      'attention: bias is int32 [4, 4]',
    ],
    ['attention: bias of', () => attend({ bias: { ...band, row: tf.ones([1, 4]) } }), 'float32 [4, 4] is wanted'],
    [
      'attention: places',
      () => attend({ bias: { ...band, keyPlaces: grid(2), row: tf.ones([4, 4]) } }),
      'places of keys [1, 2], and [1|1, 3] are wanted',
    ],
  ])('%s', (_, call, message) => {
    expect(call).toThrow(PosencError);
    expect(call).toThrow(message);
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
