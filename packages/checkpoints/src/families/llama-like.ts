/** What Llama and its many descendants share: keys of config.json, sizes, names of tensors. */
import type { ModelConfig, ModelInput, z } from '@posenc/core';
import { type Binding, copy, layers, linear, norm, transposed } from '../binding.ts';
import type { Names } from './family.ts';
import { activationName, flag, gatedActivation, layerCount, number, optionalSize, size } from './options.ts';
import { ropeKeys } from './rope.ts';

export const llamaKeys = {
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: layerCount,
  num_attention_heads: size,
  num_key_value_heads: optionalSize,
  head_dim: optionalSize,
  hidden_act: gatedActivation,
  rms_norm_eps: number(1e-6),
  tie_word_embeddings: flag(false),
  ...ropeKeys,
};

export type LlamaKeys = z.output<z.ZodObject<typeof llamaKeys>>;

/** Pre-norm, RMSNorm, a gated MLP without biases, attention without biases. */
export const readLlama = (hf: LlamaKeys) =>
  ({
    vocabSize: hf.vocab_size,
    modelDim: hf.hidden_size,
    numLayers: hf.num_hidden_layers,
    numHeads: hf.num_attention_heads,
    numKvHeads: hf.num_key_value_heads ?? undefined,
    headDim: hf.head_dim ?? undefined,
    mlpDim: hf.intermediate_size,
    norm: 'rmsnorm',
    normEps: hf.rms_norm_eps,
    activation: hf.hidden_act,
    attentionBias: 'none',
    mlpBias: false,
    tiedEmbeddings: hf.tie_word_embeddings,
  }) satisfies ModelInput;

export const writeLlama = (model: ModelConfig) => ({
  vocab_size: model.vocabSize,
  hidden_size: model.modelDim,
  intermediate_size: model.mlpDim,
  num_hidden_layers: model.numLayers,
  num_attention_heads: model.numHeads,
  num_key_value_heads: model.numKvHeads,
  head_dim: model.headDim,
  hidden_act: activationName(model.activation),
  rms_norm_eps: model.normEps,
  tie_word_embeddings: model.tiedEmbeddings,
});

/** A layer's norms: ours, and where a descendant names them otherwise, theirs. */
const norms = {
  'attention.norm': 'input_layernorm',
  'mlp.norm': 'post_attention_layernorm',
  'attention.queryNorm': 'self_attn.q_norm',
  'attention.keyNorm': 'self_attn.k_norm',
};

export const llamaBindings = (model: ModelConfig, otherNorms: Readonly<Record<string, string>> = {}): Binding[] => [
  copy('embedding.tokens', 'model.embed_tokens.weight'),
  ...layers(model.numLayers, 'model.layers', (ours, theirs) => [
    ...Object.entries({ ...norms, ...otherNorms }).flatMap(([name, their]) =>
      norm(`${ours}.${name}`, `${theirs}.${their}`),
    ),
    ...linear(`${ours}.attention.query`, `${theirs}.self_attn.q_proj`),
    ...linear(`${ours}.attention.key`, `${theirs}.self_attn.k_proj`),
    ...linear(`${ours}.attention.value`, `${theirs}.self_attn.v_proj`),
    ...linear(`${ours}.attention.output`, `${theirs}.self_attn.o_proj`),
    ...linear(`${ours}.mlp.gate`, `${theirs}.mlp.gate_proj`),
    ...linear(`${ours}.mlp.up`, `${theirs}.mlp.up_proj`),
    ...linear(`${ours}.mlp.down`, `${theirs}.mlp.down_proj`),
  ]),
  ...norm('norm', 'model.norm'),
  transposed('head.weight', 'lm_head.weight'),
];

export const llamaNames: Names = {
  prefix: 'model.',
  ignored: [[/\.rotary_emb\.inv_freq$/, 'the rotary frequencies, which follow from the config']],
  head: 'lm_head.weight',
};
