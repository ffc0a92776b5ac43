/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { attention, createMask, type Dims, type LayerHooks, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect } from 'vitest';
import { decayBias, forgetBias, fox, logSigmoid } from '../src/index.ts';
import { largestDifference, type Tensor, testCases } from './golden.ts';

const inputs = ['x', 'w', 'b', 'q', 'k', 'v'] as const;

interface Case extends Record<(typeof inputs)[number], Tensor> {
  readonly id: string;
  readonly kind: 'attention' | 'gate' | 'long' | 'decay';
  readonly log_f: Tensor;
  readonly bias: Tensor;
  readonly scores: Tensor;
  readonly probs: Tensor;
  readonly out: Tensor;
  readonly upstream: Tensor;
  readonly grads: Record<(typeof inputs)[number], Tensor>;
  readonly logits: Tensor;
  readonly derivative: Tensor;
  readonly rows: { head: number; query: number; bias: number[] }[];
  readonly heads: number;
  readonly decayTimeMin: number;
  readonly decayTimeMax: number;
}

const tensor = ({ shape, data }: Tensor) => tf.tensor(Float32Array.from(data), [...shape]);
const visible = (length: number) =>
  tf.tensor2d(Array.from({ length }, (_, i) => Array.from({ length }, (_, j) => (j <= i ? 1 : 0))));

/** Largest |actual − expected| / max(1, |expected|). */
const relative = (actual: ArrayLike<number>, expected: readonly number[]) =>
  largestDifference(
    Array.from(actual, (a, i) => a / Math.max(1, Math.abs(expected[i]!))),
    expected.map((e) => e / Math.max(1, Math.abs(e))),
  );

function hooksOf(w: tf.Tensor, b: tf.Tensor, headDim = 1): LayerHooks {
  const [modelDim, numHeads] = w.shape as [number, number];
  const dims: Dims = {
    modelDim,
    embeddingDim: modelDim,
    numLayers: 1,
    numHeads,
    numKvHeads: numHeads,
    headDim,
    causal: true,
  };
  const at = { query: range(1), key: range(1), seqLen: range(1, 1) };
  const created = fox.create(fox.config.parse({}), dims);
  return created.hooks({ weight: w.expandDims(0), bias: b.expandDims(0) })(at).layer!(0);
}

function runAttention(c: Case): void {
  const [, , length, headDim] = c.q.shape as [number, number, number, number];
  const seen: Record<string, tf.Tensor> = {};
  const run = (...given: tf.Tensor[]) => {
    const [x, w, b, q, k, v] = given as [tf.Tensor3D, tf.Tensor, tf.Tensor, tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
    const hooks = hooksOf(w, b, headDim);
    const carried = hooks.carry!(x);
    seen.logGates = carried;
    const watched: LayerHooks = {
      bias: (site) => {
        const bias = hooks.bias!(site);
        seen.bias = tf.mul(bias, visible(length));
        seen.scores = tf.mul(tf.add(site.scores(), bias), visible(length));
        return bias;
      },
      mix: (weights, u) => {
        seen.weights = weights;
        return tf.matMul(weights, u) as tf.Tensor4D;
      },
    };
    const mask = createMask({ causal: true, numQueries: length, numKeys: length });
    return attention(q, k, v, watched, { mask, scoreScale: headDim ** -0.5, x, rawKeys: k, carried });
  };
  const given = inputs.map((name) => tensor(c[name]));
  const out = run(...given);
  expect(relative(seen.logGates!.dataSync(), c.log_f.data)).toBeLessThan(1e-6);
  expect(relative(seen.bias!.dataSync(), c.bias.data)).toBeLessThan(1e-6);
  expect(relative(seen.scores!.dataSync(), c.scores.data)).toBeLessThan(1e-6);
  expect(largestDifference(seen.weights!.dataSync(), c.probs.data)).toBeLessThan(1e-6);
  expect(largestDifference(out.dataSync(), c.out.data)).toBeLessThan(1e-6);
  const gradients = tf.grads((...x) => tf.sum(tf.mul(run(...x), tensor(c.upstream))))(given);
  inputs.forEach((name, i) => {
    expect([name, relative(gradients[i]!.dataSync(), c.grads[name].data)]).toEqual([name, expect.closeTo(0, 5)]);
  });
}

function runGate(c: Case): void {
  const logits = tensor(c.logits);
  const ours = logSigmoid(logits).dataSync();
  const derivative = tf
    .grad((x) => logSigmoid(x))(logits)
    .dataSync();
  c.log_f.data.forEach((expected, i) => {
    // Relative, also where σ is nearly 1; float32 ends at 1e-38.
    expect(Math.abs(ours[i]! - expected)).toBeLessThan(1e-6 * Math.abs(expected) + 1e-37);
    expect(Math.abs(derivative[i]! - c.derivative.data[i]!)).toBeLessThan(1e-6);
  });
}

function runLong(c: Case): void {
  const hooks = hooksOf(tensor(c.w), tensor(c.b));
  const carried = hooks.carry!(tensor(c.x) as tf.Tensor3D);
  const [batch, numHeads, length] = carried.shape;
  const ours = forgetBias(carried.reshape([batch, numHeads, length]), length).arraySync()[0]!;
  const last = forgetBias(carried.reshape([batch, numHeads, length]), 1).arraySync()[0]!;
  for (const { head, query, bias } of c.rows) {
    // Differences of plain running sums are off by 1.3e-5 in float32.
    bias.forEach((expected, key) => {
      expect(Math.abs(ours[head]![query]![key]! - expected)).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected)));
      if (query === length - 1)
        expect(Math.abs(last[head]![0]![key]! - expected)).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected)));
    });
  }
  expect(Math.min(...c.rows.flatMap((row) => row.bias))).toBeLessThan(-300);
}

function runDecay(c: Case): void {
  const ours = decayBias(c.heads, [c.decayTimeMin, c.decayTimeMax]);
  expect(relative(ours, c.b.data)).toBeLessThan(1e-11);
  const logGates = logSigmoid(tf.tensor1d(Float32Array.from(ours))).dataSync();
  expect(largestDifference(logGates, c.log_f.data)).toBeLessThan(1e-6);
  expect(logGates[0]! * c.decayTimeMin).toBeCloseTo(-1, 5);
  if (c.heads > 1) expect(logGates[c.heads - 1]! * c.decayTimeMax).toBeCloseTo(-1, 3);
}

const runners = { attention: runAttention, gate: runGate, long: runLong, decay: runDecay };

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('the paper’s equations in float64', 'fox.json', 7, runners);
