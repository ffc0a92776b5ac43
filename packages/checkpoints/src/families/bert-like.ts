/** What BERT and its descendants share: keys of config.json, an encoder with norms after each sum, a head with a dense layer. */
import type { ModelConfig, ModelInput, z } from '@posenc/core';
import { type Binding, copy, layers, linear, norm, transposed } from '../binding.ts';
import type { Names } from './family.ts';
import { activationName, flag, layerCount, number, only, plainActivation, size } from './options.ts';

export const bertKeys = {
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: layerCount,
  num_attention_heads: size,
  max_position_embeddings: size,
  type_vocab_size: size,
  hidden_act: plainActivation,
  layer_norm_eps: number(1e-12),
  is_decoder: only(false),
  add_cross_attention: only(false),
  tie_word_embeddings: flag(true),
};

/** Where the position table is no matter. */
export type BertKeys = Omit<z.output<z.ZodObject<typeof bertKeys>>, 'max_position_embeddings'>;

export const readBert = (hf: BertKeys) =>
  ({
    vocabSize: hf.vocab_size,
    modelDim: hf.hidden_size,
    numLayers: hf.num_hidden_layers,
    numHeads: hf.num_attention_heads,
    mlpDim: hf.intermediate_size,
    causal: false,
    numTokenTypes: hf.type_vocab_size,
    normPlacement: 'post',
    normEps: hf.layer_norm_eps,
    embeddingNorm: true,
    activation: hf.hidden_act,
    headTransform: hf.hidden_act,
    headBias: true,
    tiedEmbeddings: hf.tie_word_embeddings,
  }) satisfies ModelInput;

export const writeBert = (model: ModelConfig) => ({
  vocab_size: model.vocabSize,
  hidden_size: model.modelDim,
  intermediate_size: model.mlpDim,
  num_hidden_layers: model.numLayers,
  num_attention_heads: model.numHeads,
  type_vocab_size: model.numTokenTypes,
  hidden_act: activationName(model.activation),
  layer_norm_eps: model.normEps,
  tie_word_embeddings: model.tiedEmbeddings,
});

/** Everything but positions and the head. `body` is what the tensors' names start with, `suffix` what those of q, k and v end with. */
export const bertBindings = (model: ModelConfig, body: string, suffix = ''): Binding[] => [
  copy('embedding.tokens', `${body}.embeddings.word_embeddings.weight`),
  copy('embedding.types', `${body}.embeddings.token_type_embeddings.weight`),
  ...norm('embedding.norm', `${body}.embeddings.LayerNorm`),
  ...layers(model.numLayers, `${body}.encoder.layer`, (ours, theirs) => [
    ...linear(`${ours}.attention.query`, `${theirs}.attention.self.query${suffix}`),
    ...linear(`${ours}.attention.key`, `${theirs}.attention.self.key${suffix}`),
    ...linear(`${ours}.attention.value`, `${theirs}.attention.self.value${suffix}`),
    ...linear(`${ours}.attention.output`, `${theirs}.attention.output.dense`),
    ...norm(`${ours}.attention.norm`, `${theirs}.attention.output.LayerNorm`),
    ...linear(`${ours}.mlp.up`, `${theirs}.intermediate.dense`),
    ...linear(`${ours}.mlp.down`, `${theirs}.output.dense`),
    ...norm(`${ours}.mlp.norm`, `${theirs}.output.LayerNorm`),
  ]),
];

/** The table of learned positions. */
export const bertPositions = (body: string) => copy('encoding.table', `${body}.embeddings.position_embeddings.weight`);

/** The head under `cls.predictions`. */
export const predictions = [
  ...linear('head.transform', 'cls.predictions.transform.dense'),
  ...norm('head.norm', 'cls.predictions.transform.LayerNorm'),
  transposed('head.weight', 'cls.predictions.decoder.weight'),
  copy('head.bias', 'cls.predictions.bias'),
];

export const predictionNames = {
  copies: { 'cls.predictions.decoder.bias': 'cls.predictions.bias' },
  head: 'cls.predictions.decoder.weight',
} satisfies Names;

/** The head under `lm_head` of RoBERTa and ESM. */
export const languageHead = [
  ...linear('head.transform', 'lm_head.dense'),
  ...norm('head.norm', 'lm_head.layer_norm'),
  transposed('head.weight', 'lm_head.decoder.weight'),
  copy('head.bias', 'lm_head.bias'),
];

export const languageHeadNames = {
  copies: { 'lm_head.decoder.bias': 'lm_head.bias' },
  head: 'lm_head.decoder.weight',
} satisfies Names;

/** TensorFlow's names of a norm's gain and bias. */
export const olderNames: NonNullable<Names['renamed']> = [
  [/\.LayerNorm\.gamma$/, '.LayerNorm.weight'],
  [/\.LayerNorm\.beta$/, '.LayerNorm.bias'],
];
