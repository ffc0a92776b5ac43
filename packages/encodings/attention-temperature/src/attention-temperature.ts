/**
 * Attention temperature: the scores of a query are multiplied by a factor before softmax, so that attention over many keys stays
 * as sharp as over few, or is as sharp as each head wants.
 *
 *     s_ij = τ_i · ⟨q_i, k_j⟩ · scoreScale        τ by position (log n, Llama 4, Ministral 3) or by layer and head
 */
import { at, type Dims, defineEncoding, encoding, type Grid, layerOf, PosencError, z } from '@posenc/core';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { type PositionRule, type Rule, ruleSchema, temperatureAt } from './rules.ts';

const config = z.strictObject({
  rule: ruleSchema
    .default({ type: 'log-n', trainLength: 512, clamped: false })
    .describe('What the factor follows: position (log-n, llama4, ministral3), or layer and head (constant, learned).'),
});

/** The options, defaults filled in. */
export type AttentionTemperatureConfig = z.output<typeof config>;

const followsPosition = (rule: Rule): rule is PositionRule => rule.type !== 'constant' && rule.type !== 'learned';

/** Su 2021 (kexue.fm); Chiang & Cholak 2022, https://arxiv.org/abs/2202.12172; Wang et al. 2024, https://arxiv.org/abs/2404.12224. */
export const attentionTemperature = defineEncoding({
  contract: 1,
  type: 'attention-temperature',
  reference:
    'Su, From entropy invariance to the scaling of attention, 2021, https://kexue.fm/archives/8823; Wang et al., Length Generalization of Causal Transformers without Position Encoding, 2024, https://arxiv.org/abs/2404.12224; Qwen, Llama 4, Ministral 3',
  equation: 's_ij = τ_i · ⟨q_i, k_j⟩ · scoreScale;  log-n: τ_i = ln n_i / ln L',
  config,
  notes: [
    'Su multiplies every row by ln n / ln L from training on, also below 1 (n = 64, L = 512: 0.667). Qwen clamps at 1 and applies it at inference only: train without it, then put clamped log-n into the config that is evaluated.',
    'n counts from 1: in a causal stack position + 1, in a bidirectional one the length of the sequence. It belongs to a query, never to the batch: a scalar of the longest row is a known bug.',
    'Llama 4 uses its temperature only in layers without RoPE, Ministral 3 in all, Mistral 4 too: say so with perLayer and compose.',
    'Llama 4’s steps come one position earlier than Ministral 3’s: ⌊(p + 1)/floorScale⌋ against ⌊p/L0⌋.',
    'Wang et al. find one factor per layer and head ("learned") for models without positions, and keep it fixed at inference; their uniform scale is "constant".',
    'A factor on the queries of one library and on the scores of another is the same thing: apply it once.',
  ],
  create: ({ rule }, dims) => {
    const positional = followsPosition(rule);
    const countsLength = rule.type === 'log-n' && !dims.causal;
    const traits = {
      maxPosition: Number.POSITIVE_INFINITY,
      shiftInvariant: !positional || countsLength,
      requiresCausal: false,
      readsPositions: positional && !countsLength,
      readsSeqLen: countsLength,
    };
    if (positional)
      return encoding({
        traits,
        params: {},
        hooks:
          () =>
          ({ query, seqLen }) => {
            const scale = scaleByPosition(rule, query, seqLen, dims.causal);
            return { layer: () => ({ scale }) };
          },
      });
    const shape = [dims.numLayers, dims.numHeads];
    if (rule.type === 'learned') {
      const { init } = rule;
      const values = typeof init === 'number' ? undefined : byHead(init, 'init', dims).flat();
      const start = values
        ? ({ kind: 'values', values } as const)
        : ({ kind: 'constant', value: init as number } as const);
      return encoding({
        traits,
        params: { factors: { shape, init: start } },
        hooks:
          ({ factors }) =>
          () => ({
            layer: (index) => ({ scale: layerOf(factors, index).reshape([1, dims.numHeads, 1, 1]) as Tensor4D }),
          }),
      });
    }
    const { factor } = rule;
    if (typeof factor === 'number')
      return encoding({ traits, params: {}, hooks: () => () => ({ layer: () => ({ scale: factor }) }) });
    const factors = byHead(factor, 'factor', dims);
    return encoding({
      traits,
      params: {},
      hooks: () => () => ({ layer: (index) => ({ scale: tf.tensor4d(factors[index]!, [1, dims.numHeads, 1, 1]) }) }),
    });
  },
  tables: ({ rule }, dims) => {
    if (followsPosition(rule)) {
      const positions = Array.from({ length: 11 }, (_, k) => 4 ** k - 1); // to 1048575
      const place = (position: number) => ({ position, seqLen: position + 1, causal: dims.causal });
      return [
        {
          name: 'factor at positions 0, 3, 15 … 4^k − 1',
          quantity: 'value',
          axes: ['k'],
          shape: [positions.length],
          data: positions.map((position) => temperatureAt(rule, place(position))),
        },
      ];
    }
    const given = rule.type === 'constant' ? rule.factor : rule.init;
    const each = (row: number) => new Array<number>(dims.numHeads).fill(row);
    const factors = typeof given === 'number' ? new Array<number[]>(dims.numLayers).fill(each(given)) : given;
    return [
      {
        name: rule.type === 'constant' ? 'factor' : 'factor at the start',
        quantity: 'value',
        axes: ['layer', 'head'],
        shape: [dims.numLayers, dims.numHeads],
        data: factors.flat(),
      },
    ];
  },
});

/** [B|1, 1, T, 1] */
function scaleByPosition(rule: PositionRule, query: Grid, seqLen: Grid, causal: boolean): Tensor4D {
  const rows = Math.max(query.rows, rule.type === 'log-n' && !causal ? seqLen.rows : 1);
  const { cols } = query;
  const values = Float32Array.from({ length: rows * cols }, (_, i) => {
    const [b, t] = [Math.floor(i / cols), i % cols];
    return temperatureAt(rule, { position: at(query, b, t), seqLen: at(seqLen, b, t), causal });
  });
  return tf.tensor4d(values, [rows, 1, cols, 1]);
}

/** Throws PosencError when the lists are not one per layer, with one number per head. */
function byHead(lists: number[][], name: string, { numLayers, numHeads }: Dims): number[][] {
  const wrong = lists.find((list) => list.length !== numHeads);
  if (lists.length !== numLayers || wrong)
    throw new PosencError(
      `attention-temperature: ${name} lists ${wrong ? `${wrong.length} numbers for ${numHeads} heads` : `${lists.length} layers of ${numLayers}`}; ` +
        'give a list per layer with a number per head, or one number for all',
    );
  return lists;
}
