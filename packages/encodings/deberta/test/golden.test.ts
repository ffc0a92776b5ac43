/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { attention, type Dims, HIDDEN, type Positions, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect } from 'vitest';
import { type DebertaConfig, deberta, debertaBucket } from '../src/index.ts';
import { largestDifference, type Tensor, testCases } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: 'bucket' | 'relative-position' | 'attention' | 'attention-v1';
  readonly config: {
    readonly bucket_size: number;
    readonly max_position: number;
    readonly heads: number;
    readonly head_dim: number;
    readonly pos_att_type: ('c2p' | 'p2c')[];
    readonly position_buckets?: number;
    readonly max_relative_positions: number;
    readonly share_att_key?: boolean;
  };
  readonly rel_min: number;
  readonly rel_max: number;
  readonly runs: readonly (readonly [first: number, bucket: number])[];
  readonly rel: Tensor;
  readonly hidden: Tensor;
  readonly weights: Record<string, Tensor>;
  readonly rel_embeddings: Tensor;
  readonly keep: Tensor;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly disentangled_bias: Tensor;
  readonly scores: Tensor;
  readonly probs: Tensor;
  readonly out: Tensor;
}

/** The sources write −1 where there are no buckets. */
const bucketsOf = (count: number | undefined) => (count === undefined || count < 1 ? null : count);
const tensor = ({ shape, data }: Tensor) => tf.tensor(Float32Array.from(data), [...shape]);

function runBuckets({ config, rel_min, rel_max, runs }: Case): void {
  const options = { positionBuckets: config.bucket_size, maxRelativePositions: config.max_position };
  for (let rel = rel_min; rel <= rel_max; rel++)
    expect([rel, debertaBucket(rel, options)]).toEqual([rel, runs.findLast(([first]) => first <= rel)![1]]);
}

function runMatrix({ config, rel }: Case): void {
  const [Tq, Tk] = rel.shape as [number, number];
  const options = {
    positionBuckets: bucketsOf(config.bucket_size),
    maxRelativePositions: config.max_position,
  };
  const ours = Array.from({ length: Tq * Tk }, (_, i) => debertaBucket(Math.floor(i / Tk) - (i % Tk), options));
  expect(ours).toEqual(rel.data);
}

interface Layer {
  readonly q: tf.Tensor4D;
  readonly k: tf.Tensor4D;
  readonly v: tf.Tensor4D;
  readonly keep: tf.Tensor;
  /** [D, width] weights and the bias of the content projections, and of those of positions where they have their own. */
  readonly projections: Partial<Record<'query' | 'key', readonly [weight: tf.Tensor2D, bias: tf.Tensor]>>;
  readonly params: Record<string, tf.Tensor>;
  readonly options: Partial<DebertaConfig>;
}

/** Our bias, and the layer's probabilities and output [B, T, H·Dh] through core's attention. */
function runLayer({ q, k, v, keep, projections, params, options }: Layer, x: tf.Tensor3D) {
  const [batch, numHeads, length, headDim] = q.shape;
  const modelDim = x.shape[2];
  const dims: Dims = {
    modelDim,
    embeddingDim: modelDim,
    numLayers: 1,
    numHeads,
    numKvHeads: numHeads,
    headDim,
    causal: false,
  };
  const positions: Positions = { query: range(length), key: range(length), seqLen: range(1, length) };
  const created = deberta.create(deberta.config.parse({ normRelEbd: false, ...options }), dims);
  expect(Object.keys(params).sort()).toEqual(Object.keys(created.params).sort());
  for (const [name, { shape }] of Object.entries(created.params))
    expect([name, params[name]!.shape]).toEqual([name, shape]);
  const hooks = created.hooks(params)(positions).layer!(0);
  const project = (side: 'query' | 'key', rows: tf.Tensor2D) => {
    const [weight, bias] = projections[side]!;
    return tf
      .add(tf.matMul(rows, weight), bias)
      .reshape<tf.Tensor3D>([-1, numHeads, headDim])
      .transpose<tf.Tensor3D>([1, 0, 2]);
  };
  let bias: tf.Tensor4D | undefined;
  const context = {
    mask: { additive: tf.mul(tf.sub(1, keep), HIDDEN) as tf.Tensor4D },
    scoreScale: headDim ** -0.5,
    x,
    rawKeys: k,
    project,
  };
  let weights: tf.Tensor4D | undefined;
  const watched = {
    ...hooks,
    bias: (site: Parameters<NonNullable<typeof hooks.bias>>[0]) => {
      bias = hooks.bias!(site);
      return bias;
    },
    mix: (w: tf.Tensor4D, u: tf.Tensor4D) => {
      weights = w;
      return tf.matMul(w, u) as tf.Tensor4D;
    },
  };
  const mixed = attention(q, k, v, watched, context);
  return { bias: bias!, weights: weights!, out: mixed.transpose([0, 2, 1, 3]).reshape([batch, length, -1]) };
}

const optionsOf = ({ config }: Case): Partial<DebertaConfig> => ({
  posAttType: config.pos_att_type,
  positionBuckets: bucketsOf(config.position_buckets),
  maxRelativePositions: config.max_relative_positions,
  shareAttKey: config.share_att_key ?? false,
});

/** [out, in] → [in, out], and the bias (0 where there is none). */
function linear(weights: Record<string, Tensor>, name: string): readonly [tf.Tensor2D, tf.Tensor] {
  const weight = tensor(weights[`${name}.weight`]!) as tf.Tensor2D;
  const bias = weights[`${name}.bias`];
  return [weight.transpose(), bias ? tensor(bias) : tf.zeros([weight.shape[0]])];
}

function runAttention(c: Case): void {
  const [q, k, v, keep] = [c.q, c.k, c.v, c.keep].map(tensor) as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
  const headDim = c.config.head_dim;
  const own = (name: string) => (c.weights[`${name}.weight`] ? linear(c.weights, name) : undefined);
  const [posKey, posQuery] = [own('pos_key_proj'), own('pos_query_proj')];
  const { bias, weights, out } = runLayer(
    {
      q,
      k,
      v,
      keep,
      options: optionsOf(c),
      projections: { query: linear(c.weights, 'query_proj'), key: linear(c.weights, 'key_proj') },
      params: {
        table: tensor(c.rel_embeddings),
        ...(posKey && { keyWeight: posKey[0].expandDims(0) }),
        ...(posQuery && { queryWeight: posQuery[0].expandDims(0), queryBias: posQuery[1].expandDims(0) }),
      },
    },
    tensor(c.hidden) as tf.Tensor3D,
  );
  const scale = 1 / Math.sqrt(headDim * (1 + c.config.pos_att_type.length));
  // The bias of their key projection of positions adds the same number, ⟨q_i, b⟩, to a whole row: not part of ours.
  const ofBias = posKey
    ? tf.mul(tf.sum(tf.mul(q, posKey[1].reshape([1, -1, 1, headDim])), 3, true), scale)
    : tf.scalar(0);
  const theirs = tf.sub(tensor(c.disentangled_bias), ofBias);
  expect(largestDifference(bias.dataSync(), theirs.dataSync())).toBeLessThan(1e-6);
  const scores = tf.add(tf.add(tf.mul(tf.matMul(q, k, false, true), scale), bias), ofBias);
  expect(largestDifference(tf.mul(scores, keep).dataSync(), c.scores.data)).toBeLessThan(1e-6);
  expect(largestDifference(weights.dataSync(), c.probs.data)).toBeLessThan(1e-6);
  expect(largestDifference(out.dataSync(), c.out.data)).toBeLessThan(1e-6);
}

/** v1 projects all at once, each head’s q, k and v side by side, and adds biases to q and v afterwards. */
function runV1(c: Case): void {
  const { heads, head_dim: headDim } = c.config;
  const x = tensor(c.hidden) as tf.Tensor3D;
  const [batch, length, modelDim] = x.shape;
  const [fused] = linear(c.weights, 'in_proj');
  const all = tf.matMul(x.reshape([-1, modelDim]), fused).reshape([batch, length, heads, 3, headDim]);
  const [q, k, v] = tf.unstack(all, 3).map((u, i) => {
    const bias = [c.weights.q_bias, undefined, c.weights.v_bias][i];
    const biased = bias ? tf.add(u, tensor(bias).reshape([heads, headDim])) : u;
    return biased.transpose([0, 2, 1, 3]);
  }) as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
  const [posKey, posQuery] = [linear(c.weights, 'pos_proj'), linear(c.weights, 'pos_q_proj')];
  const { weights, out } = runLayer(
    {
      q,
      k,
      v,
      keep: tf.ones([batch, 1, length, length]),
      options: optionsOf(c),
      projections: {},
      params: {
        table: tensor(c.rel_embeddings),
        keyWeight: posKey[0].expandDims(0),
        queryWeight: posQuery[0].expandDims(0),
        queryBias: posQuery[1].expandDims(0),
      },
    },
    x,
  );
  expect(largestDifference(weights.dataSync(), c.probs.data)).toBeLessThan(1e-6);
  expect(largestDifference(out.dataSync(), c.out.data)).toBeLessThan(1e-6);
}

const runners = {
  bucket: runBuckets,
  'relative-position': runMatrix,
  attention: runAttention,
  'attention-v1': runV1,
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('buckets, relative positions and attention of transformers', 'deberta.json', 12, runners);
