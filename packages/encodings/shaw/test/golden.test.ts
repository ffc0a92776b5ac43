/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { attention, type Dims, HIDDEN, type LayerHooks, type Positions, planOffsets, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { shaw, shawRow } from '../src/index.ts';
import { excluded, golden, largestDifference, type Tensor, testCases } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: 'attention' | 'index';
  readonly config: { readonly heads: number; readonly head_dim: number; readonly max_relative_position: number };
  readonly relative_index: Tensor;
  readonly length: number;
  readonly max_relative_position: number;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly table_keys: Tensor;
  readonly table_values: Tensor;
  readonly keep: Tensor;
  readonly scores?: Tensor;
  readonly probs: Tensor;
  readonly out: Tensor;
}

const tensor = ({ shape, data }: Tensor) => tf.tensor(Float32Array.from(data), [...shape]);

/** Queries are the last of the keys, as with a cache or a memory. */
const positionsOf = (numQueries: number, numKeys: number): Positions => ({
  query: range(numQueries, numKeys - numQueries),
  key: range(numKeys),
  seqLen: { ...range(numQueries), data: new Int32Array(numQueries).fill(numKeys) },
});

/** [Tq, Tk] the row that each pair reads. */
const indexMatrix = (numQueries: number, numKeys: number, max: number) =>
  Array.from({ length: numQueries * numKeys }, (_, i) => {
    const [query, key] = [numKeys - numQueries + Math.floor(i / numKeys), i % numKeys];
    return shawRow(key - query, max);
  });

function runIndex({ length, max_relative_position: max, relative_index }: Case): void {
  expect(indexMatrix(1, length, max)).toEqual(relative_index.data);
}

function runAttention(c: Case): void {
  const { heads: numHeads, head_dim: headDim, max_relative_position: maxRelativePosition } = c.config;
  const [q, k, v, keep] = [c.q, c.k, c.v, c.keep].map(tensor) as [tf.Tensor4D, tf.Tensor4D, tf.Tensor4D, tf.Tensor];
  const [numQueries, numKeys] = [q.shape[2], k.shape[2]];
  expect(indexMatrix(numQueries, numKeys, maxRelativePosition)).toEqual(c.relative_index.data);

  const modelDim = numHeads * headDim;
  const dims: Dims = {
    modelDim,
    embeddingDim: modelDim,
    numLayers: 1,
    numHeads,
    numKvHeads: numHeads,
    headDim,
    causal: false,
  };
  // [2k + 1, Dh], shared by the heads → [layers, 2k + 1, 1, Dh]
  const table = (stored: Tensor) => tensor(stored).reshape([1, -1, 1, headDim]);
  const created = shaw.create(shaw.config.parse({ maxRelativePosition }), dims);
  const params = { keys: table(c.table_keys), values: table(c.table_values) };
  const hooks = created.hooks(params)(positionsOf(numQueries, numKeys)).layer!(0);
  const seen: Record<string, tf.Tensor> = {};
  const watched: LayerHooks = {
    ...hooks,
    bias: (site) => {
      const bias = hooks.bias!(site);
      seen.scores = tf.add(site.scores(), bias);
      return bias;
    },
    mix: (weights, u) => {
      seen.weights = weights;
      return hooks.mix!(weights, u);
    },
  };
  const additive = tf.mul(tf.sub(1, keep), HIDDEN).reshape<tf.Tensor4D>([1, 1, numQueries, numKeys]);
  const out = attention(q, k, v, watched, { mask: { additive }, scoreScale: headDim ** -0.5, rawKeys: k });
  if (c.scores) expect(largestDifference(seen.scores!.dataSync(), c.scores.data)).toBeLessThan(1e-6);
  expect(largestDifference(seen.weights!.dataSync(), c.probs.data)).toBeLessThan(1e-6);
  expect(largestDifference(out.dataSync(), c.out.data)).toBeLessThan(1e-6);
}

const runners = { attention: runAttention, index: runIndex };

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('indices and attention of tensor2tensor', 'shaw.json', 7, runners, ['asymmetric']);

describe('ct2-shaw-relative-positions.json: indices printed in CTranslate2’s and OpenNMT-tf’s tests', () => {
  interface Printed {
    readonly q: number;
    readonly k: number;
    readonly max?: number;
    readonly expected: number[][];
  }
  const { cases } = golden<{ cases: Printed[] }>('ct2-shaw-relative-positions.json');
  const symmetric = cases.filter((c) => c.max !== undefined);

  test('two with one clip, and one asymmetric, which is left out', () => {
    expect([cases.length, symmetric.length]).toEqual([3, 2]);
    expect(excluded.has('asymmetric')).toBe(true);
  });

  test.each(symmetric)('$q queries, $k keys, clipped at $max', ({ q, k, max, expected }) => {
    expect(indexMatrix(q, k, max!)).toEqual(expected.flat());
    // The plan that the hooks use says the same.
    const { query, key } = positionsOf(q, k);
    const plan = planOffsets(query, key, (offset) => shawRow(offset, max!));
    const columns = tf.mul(tf.ones([1, 1, q, 1]), tf.tensor1d(Float32Array.from(plan.offsets))) as tf.Tensor4D;
    expect(plan.shift(columns).arraySync()[0]![0]).toEqual(expected);
  });
});
