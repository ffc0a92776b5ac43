/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import {
  attention,
  type Dims,
  HIDDEN,
  type LayerHooks,
  type Positions,
  planOffsets,
  range,
  standardize,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect, test } from 'vitest';
import { distanceTable, type TransformerXlConfig, transformerXl } from '../src/index.ts';
import { golden, largestDifference, type Tensor, testCases } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: 'table' | 'shift' | 'attention' | 'attention-transformer-xl';
  readonly config: {
    readonly d_model: number;
    readonly attn_type?: 'bi' | 'uni';
    readonly clamp_len?: number;
    readonly heads: number;
    readonly head_dim: number;
  };
  readonly query_length: number;
  readonly key_length: number;
  readonly positions?: readonly number[];
  readonly table: Tensor;
  readonly in: Tensor;
  readonly out: Tensor;
  readonly hidden: Tensor;
  readonly mems?: Tensor;
  readonly weights: Record<string, Tensor>;
  readonly keep: Tensor;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly segment_differs: Tensor;
  readonly position_term_bnij: Tensor;
  readonly scores_bnij: Tensor;
  readonly probs: Tensor;
  readonly context: Tensor;
  readonly context_without_segments: Tensor;
  readonly r_w_bias_u: Tensor;
  readonly r_r_bias_v: Tensor;
  readonly scores_ijbn: Tensor;
  readonly probs_ijbn: Tensor;
  readonly out_after_projection_residual_layernorm: Tensor;
}

const tensor = ({ shape, data }: Tensor) => tf.tensor(Float32Array.from(data), [...shape]);

/** Queries are the last of the keys: memory comes first. */
const positionsOf = (numQueries: number, numKeys: number): Positions => ({
  query: range(numQueries, numKeys - numQueries),
  key: range(numKeys),
  seqLen: { ...range(numQueries), data: new Int32Array(numQueries).fill(numKeys) },
});

function runTable(c: Case): void {
  const { d_model: width, attn_type, clamp_len = -1 } = c.config;
  // XLNet: from the number of keys down to −(number of queries) + 1 (bi) or 0 (uni).
  const lowest = attn_type === 'bi' ? 1 - c.query_length : 0;
  const distances = c.positions ?? Array.from({ length: c.key_length - lowest + 1 }, (_, i) => c.key_length - i);
  const clamped = clamp_len < 0 ? distances : distances.map((d) => Math.min(Math.max(d, -clamp_len), clamp_len));
  expect(largestDifference(distanceTable(clamped, width), c.table.data)).toBeLessThan(1e-9);
}

/**
 * Both sources number columns by distance, descending, and so do our offsets, ascending. XLNet’s first column, at a distance that no
 * pair has, is not among ours; Transformer-XL leaves out negative distances, and what it then has above the diagonal is not compared.
 */
function runShift(c: Case): void {
  const [numQueries, numKeys] = [c.query_length, c.key_length];
  const { query, key } = positionsOf(numQueries, numKeys);
  const plan = planOffsets(query, key);
  const given = tensor(c.in) as tf.Tensor2D;
  const xlnet = given.shape[1] > numKeys;
  const columns = xlnet
    ? tf.slice(given, [0, 1], [-1, -1])
    : tf.pad(given, [
        [0, 0],
        [0, numQueries - 1],
      ]);
  expect(columns.shape[1]).toBe(plan.offsets.length);
  const ours = plan.shift(columns.reshape([1, 1, numQueries, -1])).arraySync()[0]![0]!;
  let compared = 0;
  ours.forEach((row, i) => {
    row.forEach((value, j) => {
      if (!xlnet && j > i + numKeys - numQueries) return;
      expect(value).toBe(Math.fround(c.out.data[i * numKeys + j]!));
      compared++;
    });
  });
  expect(compared).toBeGreaterThanOrEqual((numQueries * (numQueries + 1)) / 2);
}

interface Layer {
  readonly q: tf.Tensor4D;
  readonly k: tf.Tensor4D;
  readonly v: tf.Tensor4D;
  readonly keep: tf.Tensor;
  readonly params: { readonly u: tf.Tensor; readonly v: tf.Tensor; readonly wR: tf.Tensor };
  readonly modelDim: number;
  readonly options?: Partial<TransformerXlConfig>;
  /** Added to the scores besides. */
  readonly extra?: tf.Tensor;
}

/** The layer through core’s attention: scores and probabilities [B, H, Tq, Tk], output [B, H, Tq, Dh], and our bias. */
function runLayer({ q, k, v, keep, params, modelDim, options = {}, extra }: Layer) {
  const [, numHeads, numQueries, headDim] = q.shape;
  const numKeys = k.shape[2];
  const dims: Dims = {
    modelDim,
    embeddingDim: modelDim,
    numLayers: 1,
    numHeads,
    numKvHeads: numHeads,
    headDim,
    causal: false,
  };
  const created = transformerXl.create(transformerXl.config.parse(options), dims);
  for (const name of ['u', 'v', 'wR'] as const) expect(params[name].shape).toEqual(created.params[name]!.shape);
  const hooks = created.hooks(params)(positionsOf(numQueries, numKeys)).layer!(0);
  const seen: Record<string, tf.Tensor> = {};
  const watched: LayerHooks = {
    bias: (site) => {
      seen.bias = hooks.bias!(site);
      const bias = extra ? tf.add(seen.bias, extra) : seen.bias;
      seen.scores = tf.mul(tf.add(site.scores(), bias), keep);
      return bias as tf.Tensor4D;
    },
    mix: (weights, u) => {
      seen.weights = weights;
      return tf.matMul(weights, u) as tf.Tensor4D;
    },
  };
  const additive = tf.mul(tf.sub(1, keep), HIDDEN).reshape<tf.Tensor4D>([1, 1, numQueries, numKeys]);
  const out = attention(q, k, v, watched, { mask: { additive }, scoreScale: headDim ** -0.5, rawKeys: k });
  return { bias: seen.bias!, scores: seen.scores!, weights: seen.weights!, out };
}

/** To 1e-6, relative above 1 (scores reach 10, where neighbouring float32 numbers are 1e-6 apart). */
function close(ours: tf.Tensor, { shape, data }: Tensor): void {
  expect(ours.shape).toEqual([...shape]);
  const size = (i: number) => Math.max(1, Math.abs(data[i]!));
  const [a, b] = [Array.from(ours.dataSync(), (x, i) => x / size(i)), data.map((x, i) => x / size(i))];
  expect(largestDifference(a, b)).toBeLessThan(1e-6);
}

/** XLNet: tensors are [T, B, H, Dh]; the segment term is the test’s own. */
function runXlnet(c: Case): void {
  const { heads: numHeads, head_dim: headDim, d_model: modelDim } = c.config;
  const [q, k, v] = [c.q, c.k, c.v].map((u) => tensor(u).transpose([1, 2, 0, 3])) as [
    tf.Tensor4D,
    tf.Tensor4D,
    tf.Tensor4D,
  ];
  const weight = (name: string) => tensor(c.weights[name]!);
  const scale = headDim ** -0.5;
  const layer: Layer = {
    q,
    k,
    v,
    keep: tensor(c.keep),
    modelDim,
    options: { untie: true },
    params: {
      u: weight('r_w_bias').expandDims(0),
      v: weight('r_r_bias').expandDims(0),
      wR: weight('r').reshape([1, modelDim, numHeads * headDim]),
    },
  };
  const ours = runLayer(layer);
  const byContent = tf.sum(tf.mul(k, weight('r_w_bias').reshape([1, numHeads, 1, headDim])), 3).expandDims(2);
  const position = tf.sub(tf.div(ours.bias, scale), byContent);
  const keep = tensor(c.keep);
  close(tf.mul(position, keep), {
    ...c.position_term_bnij,
    data: Array.from(tf.mul(tensor(c.position_term_bnij), keep).dataSync()),
  });
  close(ours.out.transpose([2, 0, 1, 3]), c.context_without_segments);

  // ⟨q_i + r_s, segment vector⟩ of "same" and of "another" sentence, [B, H, Tq, 1] each.
  const shifted = tf.add(q, weight('r_s_bias').reshape([1, numHeads, 1, headDim]));
  const [same, other] = tf
    .unstack(weight('seg_embed'))
    .map((vector) => tf.sum(tf.mul(shifted, vector.reshape([1, numHeads, 1, headDim])), 3, true)) as [
    tf.Tensor,
    tf.Tensor,
  ];
  const differs = tensor(c.segment_differs).expandDims(1);
  const segment = tf.mul(tf.add(tf.mul(other, differs), tf.mul(same, tf.sub(1, differs))), scale);
  const whole = runLayer({ ...layer, extra: segment });
  close(whole.scores, c.scores_bnij);
  close(whole.weights.transpose([2, 3, 0, 1]), c.probs);
  close(whole.out.transpose([2, 0, 1, 3]), c.context);
  const [length, batch] = [q.shape[2], q.shape[0]];
  const joined = whole.out.transpose([2, 0, 1, 3]).reshape([length * batch, -1]);
  const projected = tf
    .matMul(joined, weight('o').reshape([modelDim, -1]), false, true)
    .reshape([length, batch, modelDim]);
  close(standardize(tf.add(projected, tensor(c.hidden)), 1e-12), c.out_after_projection_residual_layernorm);
}

/** Transformer-XL: hidden states are [T, B, D], memory first; one projection gives q, k and v. */
function runTransformerXl(c: Case): void {
  const { heads: numHeads, head_dim: headDim, d_model: modelDim } = c.config;
  const hidden = tensor(c.hidden);
  const [length, batch] = hidden.shape as [number, number, number];
  const all = c.mems ? tf.concat([tensor(c.mems), hidden]) : hidden;
  const numKeys = all.shape[0];
  const projected = tf.matMul(all.reshape([-1, modelDim]), tensor(c.weights.qkv_net!) as tf.Tensor2D, false, true);
  const [allQ, k, v] = tf
    .split(projected.reshape([numKeys, batch, 3 * numHeads, headDim]), 3, 2)
    .map((u) => u.transpose([1, 2, 0, 3])) as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D];
  const ours = runLayer({
    q: tf.slice(allQ, [0, 0, numKeys - length, 0], [-1, -1, length, -1]),
    k,
    v,
    keep: tensor(c.keep),
    modelDim,
    params: {
      u: tensor(c.r_w_bias_u).expandDims(0),
      v: tensor(c.r_r_bias_v).expandDims(0),
      wR: tensor(c.weights.r_net!).transpose().expandDims(0),
    },
  });
  close(ours.scores.transpose([2, 3, 0, 1]), c.scores_ijbn);
  close(ours.weights.transpose([2, 3, 0, 1]), c.probs_ijbn);
  const joined = ours.out.transpose([2, 0, 1, 3]).reshape([length * batch, -1]);
  const output = tf
    .matMul(joined, tensor(c.weights.o_net!) as tf.Tensor2D, false, true)
    .reshape([length, batch, modelDim]);
  close(standardize(tf.add(output, hidden), 1e-5), c.out_after_projection_residual_layernorm);
}

const runners = {
  table: runTable,
  shift: runShift,
  attention: runXlnet,
  'attention-transformer-xl': runTransformerXl,
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('tables, shifts and attention of XLNet and Transformer-XL', 'transformer-xl.json', 14, runners, [
  'rope_d2_expected',
]);

test('fairseq-rope-relshift.json: the shift printed in fairseq’s test', () => {
  const { rel_shift } = golden<{ rel_shift: { input: number[][]; expected: number[][] } }>(
    'fairseq-rope-relshift.json',
  );
  const plan = planOffsets(range(3), range(3));
  const ours = plan.shift(tf.tensor4d([[rel_shift.input]])).dataSync();
  expect(largestDifference(ours, rel_shift.expected.flat())).toBeLessThan(5e-5); // four decimals are printed
});
