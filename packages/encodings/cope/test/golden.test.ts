/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { attention, createMask, type Dims, type LayerHooks, range, type Site } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect } from 'vitest';
import { cope } from '../src/index.ts';
import { largestDifference, type Tensor, testCases } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: 'bias' | 'attention';
  readonly config: { readonly heads: number; readonly head_dim: number; readonly max_pos: number };
  readonly pos_emb: Tensor;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly scores_scaled: Tensor;
  readonly bias: Tensor;
  readonly upstream: Tensor;
  readonly scores: Tensor;
  readonly probs: Tensor;
  readonly out: Tensor;
  readonly upstream_out: Tensor;
  readonly grads: Record<'pos_emb' | 'q' | 'k' | 'v', Tensor>;
}

const tensor = ({ shape, data }: Tensor) => tf.tensor(Float32Array.from(data), [...shape]);
const mask = (length: number) => createMask({ causal: true, numQueries: length, numKeys: length });
/** 1 where a key is visible. */
const visible = (length: number) =>
  tf.tensor2d(Array.from({ length }, (_, i) => Array.from({ length }, (_, j) => (j <= i ? 1 : 0))));

function hooksOf({ config }: Case, table: tf.Tensor): LayerHooks {
  const { heads, head_dim: headDim, max_pos: numPositions } = config;
  const modelDim = heads * headDim;
  const dims: Dims = {
    modelDim,
    embeddingDim: modelDim,
    numLayers: 1,
    numHeads: heads,
    numKvHeads: heads,
    headDim,
    causal: true,
  };
  const at = { query: range(1), key: range(1), seqLen: range(1, 1) };
  return cope.create({ numPositions }, dims).hooks({ table: table.expandDims(0) })(at).layer!(0);
}

function expectGradients(
  c: Case,
  names: readonly ('pos_emb' | 'q' | 'k' | 'v')[],
  f: (...x: tf.Tensor[]) => tf.Tensor,
) {
  const gradients = tf.grads(f)(names.map((name) => tensor(c[name])));
  names.forEach((name, i) => {
    expect([name, largestDifference(gradients[i]!.dataSync(), c.grads[name].data)]).toEqual([
      name,
      expect.closeTo(0, 5),
    ]);
  });
}

function runBias(c: Case): void {
  const length = c.q.shape[2]!;
  const bias = (table: tf.Tensor, q: tf.Tensor, k: tf.Tensor) => {
    const scores = tf.mul(tf.matMul(q, k, false, true), c.config.head_dim ** -0.5);
    const site = { q, scores: () => tf.add(scores, mask(length).additive!) } as Partial<Site> as Site;
    return tf.mul(hooksOf(c, table).bias!(site), visible(length));
  };
  const scores = tf.mul(tf.matMul(tensor(c.q), tensor(c.k), false, true), c.config.head_dim ** -0.5);
  expect(largestDifference(scores.dataSync(), c.scores_scaled.data)).toBeLessThan(1e-6);
  const ours = bias(tensor(c.pos_emb), tensor(c.q), tensor(c.k));
  expect(largestDifference(ours.dataSync(), c.bias.data)).toBeLessThan(1e-6);
  expectGradients(c, ['pos_emb', 'q', 'k'], (table, q, k) => tf.sum(tf.mul(bias(table!, q!, k!), tensor(c.upstream))));
}

function runAttention(c: Case): void {
  const length = c.q.shape[2]!;
  const context = { mask: mask(length), scoreScale: c.config.head_dim ** -0.5 };
  const seen: { scores?: tf.Tensor; weights?: tf.Tensor } = {};
  const run = (table: tf.Tensor, q: tf.Tensor, k: tf.Tensor, v: tf.Tensor) => {
    const hooks = hooksOf(c, table);
    const watched: LayerHooks = {
      bias: (site) => {
        const bias = hooks.bias!(site);
        seen.scores = tf.mul(tf.add(site.scores(), bias), visible(length));
        return bias;
      },
      mix: (weights, u) => {
        seen.weights = weights;
        return tf.matMul(weights, u) as tf.Tensor4D;
      },
    };
    return attention(q as tf.Tensor4D, k as tf.Tensor4D, v as tf.Tensor4D, watched, {
      ...context,
      rawKeys: k as tf.Tensor4D,
    });
  };
  const out = run(tensor(c.pos_emb), tensor(c.q), tensor(c.k), tensor(c.v));
  expect(largestDifference(seen.scores!.dataSync(), c.scores.data)).toBeLessThan(1e-6);
  expect(largestDifference(seen.weights!.dataSync(), c.probs.data)).toBeLessThan(1e-6);
  expect(largestDifference(out.dataSync(), c.out.data)).toBeLessThan(1e-6);
  expectGradients(c, ['pos_emb', 'q', 'k', 'v'], (table, q, k, v) =>
    tf.sum(tf.mul(run(table!, q!, k!, v!), tensor(c.upstream_out))),
  );
}

const runners = { bias: runBias, attention: runAttention };

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('biases, attention and gradients of x-transformers', 'cope.json', 4, runners);
