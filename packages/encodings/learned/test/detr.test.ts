/** golden/detr.json: two layers of DETR’s encoder, whose positions join queries and keys in every layer, and no values. */
import { createTransformer, explicit, type Params, resolveModel } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { learned } from '../src/index.ts';
import { golden, largestDifference, type Tensor } from './golden.ts';

interface Case {
  readonly id: string;
  readonly causal: boolean;
  readonly heads: number;
  readonly weights: readonly Readonly<Record<string, Tensor>>[];
  readonly x: Tensor;
  readonly table: Tensor;
  readonly out: Tensor;
}

/** Their name of each of a layer’s parameters. */
const names = {
  'attention.query': 'self_attn.q_proj',
  'attention.key': 'self_attn.k_proj',
  'attention.value': 'self_attn.v_proj',
  'attention.output': 'self_attn.o_proj',
  'attention.norm': 'self_attn_layer_norm',
  'mlp.up': 'mlp.fc1',
  'mlp.down': 'mlp.fc2',
  'mlp.norm': 'final_layer_norm',
};

const matrix = ({ shape, data }: Tensor) => tf.tensor2d([...data], shape as [number, number]);

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('detr.json', () => {
  const { cases } = golden<{ cases: Case[] }>('detr.json');
  test('holds an encoder and a causal stack', () => {
    expect(cases.map(({ id, causal }) => [id, causal])).toEqual([
      ['detr-encoder', false],
      ['detr-encoder-causal', true],
    ]);
  });

  test.each(cases)('$id: the whole stack', (c) => {
    const [length, modelDim] = c.x.shape as [number, number];
    const model = resolveModel({
      vocabSize: modelDim, // so that a head of ones on the diagonal hands out what the layers give
      modelDim,
      numLayers: c.weights.length,
      numHeads: c.heads,
      mlpDim: c.weights[0]!['mlp.fc1.bias']!.data.length,
      normPlacement: 'post',
      activation: 'relu',
      tiedEmbeddings: false,
      causal: c.causal,
    });
    const { encoding, forward, params: specs } = stack(c, model);
    expect(encoding.params.table!.shape).toEqual([length, modelDim]);

    const params: Record<string, tf.Tensor> = {
      'embedding.tokens': tf.concat([matrix(c.x), tf.zeros([modelDim - length, modelDim])]),
      'head.weight': tf.eye(modelDim),
      'encoding.table': matrix(c.table),
    };
    c.weights.forEach((theirs, l) => {
      for (const [ours, name] of Object.entries(names)) {
        const weight = theirs[`${name}.weight`]!;
        const isNorm = weight.shape.length === 1;
        params[`layers.${l}.${ours}.${isNorm ? 'gain' : 'weight'}`] = isNorm
          ? tf.tensor1d([...weight.data])
          : matrix(weight).transpose();
        params[`layers.${l}.${ours}.bias`] = tf.tensor1d([...theirs[`${name}.bias`]!.data]);
      }
    });
    expect(Object.keys(params).sort()).toEqual(Object.keys(specs).sort());
    const tokens = explicit([Array.from({ length }, (_, t) => t)]);
    const out = forward(params as Params, { tokens }).logits;
    expect(largestDifference(out.dataSync(), c.out.data)).toBeLessThan(5e-6);

    // In the embedding instead, or in the values too, the numbers are others.
    const once = stack(c, model, 'embedding').forward(params as Params, { tokens }).logits;
    expect(largestDifference(once.dataSync(), c.out.data)).toBeGreaterThan(0.1);
  });
});

function stack(c: Case, model: ReturnType<typeof resolveModel>, into = 'queriesAndKeys') {
  const config = learned.config.parse({ numPositions: c.table.shape[0], into });
  return createTransformer(model, learned.create(config, model));
}
