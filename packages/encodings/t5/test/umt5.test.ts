/** golden/reference/umt5.json: UMT5's whole encoder, whose layers own a table each (perLayer). */
import { createTransformer, explicit, type ModelInput, resolveModel } from '@posenc/core';
import { t5 } from '@posenc/t5';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect, it } from 'vitest';
import { deviation, load, type Stored } from './golden.ts';

interface Case {
  readonly heads: number;
  readonly num_buckets: number;
  readonly max_distance: number;
  readonly eps: number;
  readonly weights: Readonly<Record<string, Stored>>;
  readonly tokens: readonly number[];
  readonly out: Stored;
}

/** Their name of each of a block’s parameters. */
const names = {
  'attention.norm.gain': 'layer.0.layer_norm',
  'attention.query.weight': 'layer.0.SelfAttention.q',
  'attention.key.weight': 'layer.0.SelfAttention.k',
  'attention.value.weight': 'layer.0.SelfAttention.v',
  'attention.output.weight': 'layer.0.SelfAttention.o',
  'mlp.norm.gain': 'layer.1.layer_norm',
  'mlp.gate.weight': 'layer.1.DenseReluDense.wi_0',
  'mlp.up.weight': 'layer.1.DenseReluDense.wi_1',
  'mlp.down.weight': 'layer.1.DenseReluDense.wo',
};

beforeAll(() => tf.setBackend('cpu'));

it('umt5-encoder: hidden states of both layers, each with its own table', () => {
  const c = load<{ cases: Case[] }>('reference/umt5').cases[0]!;
  const stored = (name: string) => c.weights[`${name}.weight`]!;
  const tensor = ({ shape, data }: Stored) => tf.tensor([...data], [...shape]);
  const [vocab, modelDim] = stored('shared').shape as [number, number];
  const table = (layer: number) => stored(`encoder.block.${layer}.layer.0.SelfAttention.relative_attention_bias`);
  const input: ModelInput = {
    vocabSize: modelDim, // so that a head of ones on the diagonal hands out the hidden states
    modelDim,
    numLayers: 2,
    numHeads: c.heads,
    mlpDim: stored('encoder.block.0.layer.1.DenseReluDense.wi_0').shape[0],
    causal: false,
    norm: 'rmsnorm',
    normEps: c.eps,
    activation: 'geglu-tanh',
    attentionBias: 'none',
    mlpBias: false,
    scoreScale: 1,
    tiedEmbeddings: false,
  };
  const model = resolveModel(input);
  const build = (perLayer: boolean) => {
    const config = t5.config.parse({ numBuckets: c.num_buckets, maxDistance: c.max_distance, perLayer });
    return createTransformer(model, t5.create(config, model));
  };
  const params: Record<string, tf.Tensor> = {
    'embedding.tokens': tf.pad(tensor(stored('shared')), [
      [0, modelDim - vocab],
      [0, 0],
    ]),
    'norm.gain': tensor(stored('encoder.final_layer_norm')),
    'head.weight': tf.eye(modelDim),
    'encoding.table': tf.stack([tensor(table(0)), tensor(table(1))]),
  };
  for (const layer of [0, 1])
    for (const [ours, theirs] of Object.entries(names)) {
      const weight = tensor(stored(`encoder.block.${layer}.${theirs}`));
      params[`layers.${layer}.${ours}`] = weight.rank === 2 ? weight.transpose() : weight;
    }
  const transformer = build(true);
  expect(Object.keys(params).sort()).toEqual(Object.keys(transformer.params).sort());
  const tokens = explicit([c.tokens]);
  const out = transformer.forward(params, { tokens }).logits;
  expect(deviation(out.dataSync(), c.out.data)).toBeLessThan(1e-5);

  const shared = build(false).forward(
    { ...params, 'encoding.table': tensor(table(0)).expandDims(0) },
    { tokens },
  ).logits;
  expect(deviation(shared.dataSync(), c.out.data)).toBeGreaterThan(0.1);
});
