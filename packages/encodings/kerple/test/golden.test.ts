/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { attention, createMask, type Dims, type LayerHooks, planOffsets, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type KerpleConfig, type KerpleKernel, kerple, kerpleKernel } from '../src/index.ts';
import { golden, largestDifference, type Tensor, testCases } from './golden.ts';

type Numbers = readonly number[];

interface Case {
  readonly id: string;
  readonly kind: 'log' | 'power' | 'power-bias-weight' | 'log-at-distances';
  readonly p: Numbers;
  readonly a: Numbers;
  readonly p_after?: Numbers;
  readonly a_after?: Numbers;
  readonly bias_lower?: Tensor;
  readonly upstream?: Tensor;
  readonly grad_lower_with_diagonal?: { readonly dp: Numbers; readonly da: Numbers };
  readonly grad_strictly_lower?: { readonly dp: Numbers; readonly da: Numbers };
  readonly query_length?: number;
  readonly key_length?: number;
  readonly bias?: Tensor;
  readonly params: Readonly<Record<'bias_p' | 'bias_a' | 'wei_p' | 'wei_a', Numbers | undefined>>;
  readonly scores: Tensor;
  readonly out: Tensor;
  readonly distances: Numbers;
  readonly bias_by_head: Tensor;
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);
const vector = (values: Numbers) => tf.tensor1d([...values]);

function hooksOf(
  config: Partial<KerpleConfig>,
  params: Readonly<Record<string, tf.Tensor>>,
  [numQueries, numKeys]: readonly [number, number],
): LayerHooks {
  const numHeads = Object.values(params)[0]!.size;
  const dims: Dims = {
    modelDim: 8,
    embeddingDim: 8,
    numLayers: 1,
    numHeads,
    numKvHeads: numHeads,
    headDim: 4,
    causal: true,
  };
  const at = { query: range(numQueries, numKeys - numQueries), key: range(numKeys), seqLen: range(numQueries) };
  const encoding = kerple.create(kerple.config.parse(config), dims);
  expect(Object.keys(encoding.params).sort()).toEqual(Object.keys(params).sort());
  return encoding.hooks(params)(at).layer!(0);
}

/** The authors’ p and a under our names. */
const named = (kernel: 'log' | 'power', p: tf.Tensor, a: tf.Tensor, use = 'bias') =>
  kernel === 'log' ? { [`${use}.alpha`]: p, [`${use}.beta`]: a } : { [`${use}.alpha`]: a, [`${use}.gamma`]: p };

/** The bias of every query and key, as attention adds it: [H, Tq, Tk]. */
function biasMatrix(
  kernel: 'log' | 'power',
  p: tf.Tensor,
  a: tf.Tensor,
  numQueries: number,
  numKeys: number,
): tf.Tensor3D {
  const plan = planOffsets(range(numQueries, numKeys - numQueries), range(numKeys));
  const hooks = hooksOf({ bias: kernel }, named(kernel, p, a), [numQueries, numKeys]);
  return plan.expand(hooks.relativeBias!(plan.offsets)).squeeze<tf.Tensor3D>([0]);
}

/** 1 for keys before the query (`diagonal` −1) or up to it (0). */
const lower = (length: number, diagonal: number) =>
  tf.tensor2d(
    upTo(length * length).map((i) => (i % length <= Math.floor(i / length) + diagonal ? 1 : 0)),
    [length, length],
  );

function runBias(c: Case, kernel: 'log' | 'power'): void {
  // What lies outside the authors’ bounds is put back by them before use; their kernel is ours from there on.
  const [p, a] = [vector(c.p_after ?? c.p), vector(c.a_after ?? c.a)];
  if (c.bias) {
    const ours = biasMatrix(kernel, p, a, c.query_length!, c.key_length!);
    expect(ours.shape).toEqual(c.bias.shape);
    expect(largestDifference(ours.dataSync(), c.bias.data)).toBeLessThan(1e-6);
    return;
  }
  const [, length] = c.bias_lower!.shape as [number, number, number];
  const seen = tf.mul(biasMatrix(kernel, p, a, length, length), lower(length, 0));
  expect(seen.shape).toEqual(c.bias_lower!.shape);
  const unit = Math.max(1, ...c.bias_lower!.data.map(Math.abs)); // float32: up to 10 here
  expect(largestDifference(seen.dataSync(), c.bias_lower!.data)).toBeLessThan(5e-7 * unit);
  if (!c.upstream) return;
  const upstream = tf.tensor4d([...c.upstream.data], c.upstream.shape as [number, number, number, number]);
  for (const [diagonal, expected] of [
    [0, c.grad_lower_with_diagonal!],
    [-1, c.grad_strictly_lower!],
  ] as const) {
    const loss = (theirP: tf.Tensor, theirA: tf.Tensor) =>
      tf.sum(tf.mul(tf.mul(upstream, lower(length, diagonal)), biasMatrix(kernel, theirP, theirA, length, length)));
    const gradients = tf.grads(loss)([p, a]);
    for (const [gradient, wanted] of [
      [gradients[0]!, expected.dp],
      [gradients[1]!, expected.da],
    ] as const)
      wanted.forEach((value, h) => {
        expect(Math.abs(gradient.dataSync()[h]! - value)).toBeLessThan(1e-5 * Math.max(1, Math.abs(value)));
      });
  }
}

/** Their module takes scores and returns what softmax reads: here attention does, and hands it out through the hooks. */
function runBiasAndWeight(c: Case): void {
  const [numHeads, length] = c.scores.shape as [number, number, number];
  const { bias_p, bias_a, wei_p, wei_a } = c.params;
  const config: Partial<KerpleConfig> = { bias: bias_p ? 'power' : 'none', weight: 'power' };
  const hooks = hooksOf(
    config,
    {
      ...(bias_p && named('power', vector(bias_p), vector(bias_a!))),
      ...named('power', vector(wei_p!), vector(wei_a!), 'weight'),
    },
    [length, length],
  );
  const scores = tf.tensor4d([...c.scores.data], [1, numHeads, length, length]);
  const offsets = planOffsets(range(length), range(length));
  const nothing = tf.zeros<tf.Rank.R4>([1, numHeads, length, 1]);
  const values = tf.eye(length).expandDims<tf.Tensor3D>(0).expandDims<tf.Tensor4D>(0);
  const weights = attention(
    nothing,
    nothing,
    tf.mul(values, tf.ones([1, numHeads, 1, 1])),
    { ...hooks, scores: () => scores },
    { mask: createMask({ causal: true, numQueries: length, numKeys: length }), scoreScale: 1, offsets },
  ).dataSync();
  // Softmax keeps differences within a row.
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (const h of upTo(numHeads))
    for (const i of upTo(length))
      for (const j of upTo(i)) {
        const [there, here] = [j, i].map((key) => (h * length + i) * length + key) as [number, number];
        ours.push(Math.log(weights[there]!) - Math.log(weights[here]!));
        theirs.push(c.out.data[there]! - c.out.data[here]!);
      }
  expect(largestDifference(ours, theirs)).toBeLessThan(1e-6);
}

const runners: Record<Case['kind'], (c: Case) => void> = {
  log: (c) => runBias(c, 'log'),
  power: (c) => runBias(c, 'power'),
  'power-bias-weight': runBiasAndWeight,
  'log-at-distances': (c) => {
    const hooks = hooksOf({}, named('log', vector(c.p), vector(c.a)), [1, 1]);
    const ours = hooks.relativeBias!(Int32Array.from(c.distances, (d) => -d));
    expect(largestDifference(ours.dataSync(), c.bias_by_head.data)).toBeLessThan(1e-6);
  },
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('biases, gradients and scores of the authors’ modules', 'kerple.json', 11, runners);

describe('exact.json: 60-digit arithmetic, distances to 1048576', () => {
  interface Exact {
    readonly id: string;
    readonly kernel: KerpleKernel;
    readonly alpha: number;
    readonly beta?: number;
    readonly gamma?: number;
    readonly distances: number[];
    readonly values: number[];
  }
  const { cases } = golden<{ cases: Exact[] }>('exact.json');
  const relative = (value: number, expected: number) =>
    expected === 0 ? Math.abs(value) : Math.abs(value / expected - 1);
  test.each(cases)('$id', ({ kernel, distances, values, alpha, beta, gamma }) => {
    const host = kerpleKernel(kernel, { alpha, beta, gamma }, distances);
    const params = Object.fromEntries(
      Object.entries({ alpha, beta, gamma }).flatMap(([letter, value]) =>
        value === undefined ? [] : [[`bias.${letter}`, tf.tensor1d([value])]],
      ),
    );
    const device = hooksOf({ bias: kernel }, params, [1, 1]).relativeBias!(Int32Array.from(distances)).dataSync();
    expect(host.length).toBe(values.length);
    values.forEach((value, i) => {
      expect(relative(host[i]!, value)).toBeLessThan(1e-14);
      expect(relative(device[i]!, value)).toBeLessThan(3e-6); // e^(γ ln d) in float32: an ulp of the exponent, 28 at most
    });
  });
});
