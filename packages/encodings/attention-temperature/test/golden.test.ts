/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { attentionTemperature, type RuleInput, temperatureAt } from '@posenc/attention-temperature';
import { attention, createMask, type Dims, explicit, range } from '@posenc/core';
import type { Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { excluded, golden, largestDifference, type Tensor } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, number>>;
  readonly positions: readonly number[];
  readonly scale: readonly number[];
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly w_o: Tensor;
  readonly out: Tensor;
}

/** A rule with its defaults, as a config has it. */
const factorsOf = (rule: RuleInput, positions: readonly number[]): number[] => {
  const parsed = attentionTemperature.config.parse({ rule }).rule;
  if (parsed.type === 'constant' || parsed.type === 'learned') throw new Error('no rule by position');
  return positions.map((position) => temperatureAt(parsed, { position, seqLen: position + 1, causal: true }));
};

const ruleOf = ({ kind, config }: Case): RuleInput => {
  if (kind === 'llama4-temperature')
    return { type: 'llama4', floorScale: config.floor_scale!, attnScale: config.attn_scale! };
  if (kind === 'llama4-scaling-beta')
    return {
      type: 'ministral3',
      beta: config.beta!,
      originalMaxPositionEmbeddings: config.original_max_position_embeddings!,
    };
  return { type: 'log-n', trainLength: config.train_length!, clamped: true };
};

function runAttention(c: Case): void {
  const [q, k, v] = [c.q, c.k, c.v].map(({ shape, data }) =>
    tf.tensor4d(Float32Array.from(data), shape as [number, number, number, number]),
  );
  const [, numHeads, length, headDim] = q!.shape;
  const modelDim = numHeads * headDim;
  const dims: Dims = {
    modelDim,
    embeddingDim: modelDim,
    numLayers: 1,
    numHeads,
    numKvHeads: numHeads,
    headDim,
    causal: true,
  };
  const created = attentionTemperature.create(attentionTemperature.config.parse({ rule: ruleOf(c) }), dims);
  const seqLen = explicit([new Array(length).fill(length)]);
  const hooks = created.hooks({})({ query: range(length), key: range(length), seqLen }).layer!(0);
  const mask = createMask({ causal: true, numQueries: length, numKeys: length });
  const mixed = attention(q!, k!, v!, hooks, { mask, scoreScale: headDim ** -0.5 });
  const output = tf.tensor2d(c.w_o.data as number[], c.w_o.shape as [number, number]);
  const merged = mixed.transpose([0, 2, 1, 3]).reshape([length, modelDim]) as Tensor2D;
  expect(largestDifference(tf.matMul(merged, output, false, true).dataSync(), c.out.data)).toBeLessThan(1e-6);
}

beforeAll(() => tf.setBackend('cpu'));

describe('attention-scaling.json: Qwen-1, Ministral 3, Llama 4', () => {
  const { cases } = golden<{ cases: Case[] }>('attention-scaling.json');
  const run = cases.filter(({ id }) => !excluded.has(id));
  test('every id is run or excluded', () => {
    expect(cases).toHaveLength(14);
    expect(run).toHaveLength(10);
    for (const id of excluded.keys()) expect(cases.map((c) => c.id)).toContain(id);
  });
  test.each(run)('$id', (c) => {
    if (c.kind === 'attention') return runAttention(c);
    expect(largestDifference(factorsOf(ruleOf(c), c.positions), c.scale)).toBeLessThan(5e-9);
  });
});

describe('long-positions.json: 60-digit arithmetic', () => {
  interface Long {
    readonly rule: RuleInput;
    readonly positions: readonly number[];
    readonly factor: readonly number[];
  }
  const { cases } = golden<{ cases: Long[] }>('long-positions.json');
  test('goes to 1048576', () => {
    expect(cases).toHaveLength(4);
    for (const { positions } of cases) expect(positions).toEqual(expect.arrayContaining([131072, 1048576]));
  });
  test.each(cases)('$rule', ({ rule, positions, factor }) => {
    factorsOf(rule, positions).forEach((ours, i) => {
      expect(Math.abs(ours - factor[i]!)).toBeLessThanOrEqual(1e-14 * factor[i]!);
    });
  });
});
