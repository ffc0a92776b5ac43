/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { type Dims, explicit, type Grid, range, type Site } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { fire, fireShare } from '../src/index.ts';
import { excluded, golden, largestDifference, type Tensor } from './golden.ts';

interface Case {
  readonly id: string;
  readonly config: {
    readonly heads: number;
    readonly mlp_width: number;
    readonly c: number;
    readonly L: number;
    readonly L_multiplier: number;
    readonly eps: number;
  };
  readonly w1: Tensor;
  readonly b1: readonly number[];
  readonly w2: Tensor;
  readonly b2: readonly number[];
  readonly length?: number;
  readonly positions?: readonly number[];
  readonly bias?: Tensor;
  readonly rows?: readonly number[];
  readonly bias_rows?: Tensor;
  readonly upstream?: Tensor;
  readonly grads?: Readonly<
    Record<'c' | 'L_multiplier' | 'w1' | 'b1' | 'w2' | 'b2', number | Tensor | readonly number[]>
  >;
}

const names = ['c', 'thresholdFactor', 'hiddenWeight', 'hiddenBias', 'outputWeight'] as const;

function paramsOf(c: Case): tf.Tensor[] {
  const { heads, mlp_width: width } = c.config;
  return [
    tf.tensor2d([c.config.c], [1, 1]),
    tf.tensor2d([c.config.L_multiplier], [1, 1]),
    tf.tensor2d([...c.w1.data], [1, width]),
    tf.tensor2d([...c.b1], [1, width]),
    tf
      .tensor2d([...c.w2.data], [heads, width])
      .transpose()
      .expandDims(0),
  ];
}

/** [H, Tq, Tk], with the last layer’s bias that the package leaves out. */
function biasOf(c: Case, params: readonly tf.Tensor[], query: Grid, key: Grid, causal: boolean): tf.Tensor3D {
  const { heads, mlp_width: hiddenDim, L: threshold, eps } = c.config;
  const dims: Dims = {
    modelDim: heads,
    embeddingDim: heads,
    numLayers: 1,
    numHeads: heads,
    numKvHeads: heads,
    headDim: 1,
    causal,
  };
  const encoding = fire.create(fire.config.parse({ hiddenDim, threshold, eps, normalizer: 'query' }), dims);
  expect(Object.entries(encoding.params).map(([name, { shape }]) => [name, shape])).toEqual(
    names.map((name, i) => [name, params[i]!.shape]),
  );
  const hooks = encoding.hooks(Object.fromEntries(names.map((name, i) => [name, params[i]!])))({
    query,
    key,
    seqLen: query,
  });
  const bias = hooks.layer!(0).bias!({} as Site).squeeze<tf.Tensor3D>([0]);
  return tf.add(bias, tf.tensor3d([...c.b2], [heads, 1, 1]));
}

function run(c: Case): void {
  const positions = c.positions ? explicit([c.positions]) : range(c.length!);
  for (const causal of [true, false]) {
    const whole = biasOf(c, paramsOf(c), positions, positions, causal);
    if (c.bias) {
      expect(whole.shape).toEqual(c.bias.shape);
      expect(largestDifference(whole.dataSync(), c.bias.data)).toBeLessThan(1e-6);
    }
    // One query at a time, as a cache asks: the same rows.
    const rows = c.rows ?? positions.data.map((_, row) => row);
    const [heads, length] = [c.config.heads, positions.cols];
    const theirs = c.bias_rows ?? c.bias!;
    rows.forEach((row, i) => {
      const query = explicit([[positions.data[row]!]]);
      const ours = biasOf(c, paramsOf(c), query, positions, causal).dataSync();
      const expected = Array.from({ length: heads }, (_, h) => {
        const start = (h * theirs.shape[1]! + i) * length;
        return theirs.data.slice(start, start + length);
      });
      expect(largestDifference(ours, expected.flat())).toBeLessThan(1e-6);
    });
  }
  if (c.grads) runGradients(c, positions);
}

function runGradients(c: Case, positions: Grid): void {
  const upstream = tf.tensor3d([...c.upstream!.data], c.upstream!.shape as [number, number, number]);
  const loss = (...params: tf.Tensor[]) => tf.sum(tf.mul(upstream, biasOf(c, params, positions, positions, true)));
  const gradients = tf.grads(loss)(paramsOf(c));
  const flat = (value: number | Tensor | readonly number[]) =>
    typeof value === 'number' ? [value] : 'data' in value ? value.data : value;
  (['c', 'L_multiplier', 'w1', 'b1'] as const).forEach((name, i) => {
    const expected = flat(c.grads![name]);
    const unit = Math.max(...expected.map(Math.abs));
    expect(largestDifference(gradients[i]!.dataSync(), expected)).toBeLessThan(1e-5 * Math.max(1, unit));
  });
  const ours = gradients[4]!.squeeze<tf.Tensor2D>([0]).transpose().dataSync();
  expect(largestDifference(ours, flat(c.grads!.w2))).toBeLessThan(1e-5);
}

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('fire.json: biases and gradients of McLeish et al.', () => {
  const { cases } = golden<{ cases: Case[] }>('fire.json');
  test('every id is run or excluded', () => {
    expect(cases.length).toBe(4);
    expect(cases.filter((c) => c.grads).length).toBe(2);
    expect(cases.filter((c) => c.bias || c.bias_rows).length).toBe(4);
    for (const id of excluded.keys()) expect(cases.map((c) => c.id)).toContain(id);
  });
  test.each(cases.filter((c) => !excluded.has(c.id)))('$id', run);
});

describe('exact.json: shares in 60-digit arithmetic, positions to 1048576', () => {
  interface Exact {
    readonly id: string;
    readonly c: number;
    readonly threshold: number;
    readonly eps: number;
    readonly pairs: readonly { readonly distance: number; readonly position: number; readonly share: number }[];
  }
  const { cases } = golden<{ cases: Exact[] }>('exact.json');
  const relative = (value: number, expected: number) =>
    expected === 0 ? Math.abs(value) : Math.abs(value / expected - 1);
  test.each(cases)('$id', ({ c, threshold, eps, pairs }) => {
    const dims: Dims = {
      modelDim: 1,
      embeddingDim: 1,
      numLayers: 1,
      numHeads: 1,
      numKvHeads: 1,
      headDim: 1,
      causal: true,
    };
    const encoding = fire.create(fire.config.parse({ hiddenDim: 1, threshold, eps }), dims);
    // A network that gives back its input.
    const values = [c, 1, 1, 0, 1];
    const params = Object.fromEntries(
      names.map((name, i) => [name, tf.fill([...encoding.params[name]!.shape], values[i]!)]),
    );
    for (const { distance, position, share } of pairs) {
      expect(relative(fireShare(distance, position, { c, threshold, eps }), share)).toBeLessThan(1e-14);
      const [query, key] = [explicit([[position]]), explicit([[position - distance]])];
      const bias = encoding.hooks(params)({ query, key, seqLen: query }).layer!(0).bias!({} as Site);
      expect(relative(bias.dataSync()[0]!, share)).toBeLessThan(1e-6);
    }
  });
});
