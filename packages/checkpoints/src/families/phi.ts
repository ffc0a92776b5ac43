/** Phi 1 to 2 (Gunasekar et al. 2023). RoPE on half of each head; attention and MLP in parallel after one norm; biases everywhere. */
import { z } from '@posenc/core';
import { copy, layers, linear, norm } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, number, only, optionalSize, plainActivation, size } from './options.ts';
import { readRope, ropeKeys, writeRope } from './rope.ts';

export const phi = defineFamily({
  name: 'phi',
  architecture: 'PhiForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: layerCount,
    num_attention_heads: size,
    num_key_value_heads: optionalSize,
    hidden_act: plainActivation,
    layer_norm_eps: number(1e-5),
    qk_layernorm: only(false),
    tie_word_embeddings: flag(false),
    ...ropeKeys,
  }),
  read: (hf) => ({
    model: {
      vocabSize: hf.vocab_size,
      modelDim: hf.hidden_size,
      numLayers: hf.num_hidden_layers,
      numHeads: hf.num_attention_heads,
      numKvHeads: hf.num_key_value_heads ?? undefined,
      mlpDim: hf.intermediate_size,
      normEps: hf.layer_norm_eps,
      activation: hf.hidden_act,
      parallelResidual: 'sharedNorm',
      headBias: true,
      tiedEmbeddings: hf.tie_word_embeddings,
    },
    encoding: readRope(hf, { partialRotaryFactor: 0.5 }),
  }),
  write: (model, encoding) => ({
    vocab_size: model.vocabSize,
    hidden_size: model.modelDim,
    intermediate_size: model.mlpDim,
    num_hidden_layers: model.numLayers,
    num_attention_heads: model.numHeads,
    num_key_value_heads: model.numKvHeads,
    hidden_act: activationName(model.activation),
    layer_norm_eps: model.normEps,
    tie_word_embeddings: model.tiedEmbeddings,
    ...writeRope(encoding),
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'model.embed_tokens.weight'),
    ...layers(model.numLayers, 'model.layers', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.input_layernorm`),
      ...linear(`${ours}.attention.query`, `${theirs}.self_attn.q_proj`),
      ...linear(`${ours}.attention.key`, `${theirs}.self_attn.k_proj`),
      ...linear(`${ours}.attention.value`, `${theirs}.self_attn.v_proj`),
      ...linear(`${ours}.attention.output`, `${theirs}.self_attn.dense`),
      ...linear(`${ours}.mlp.up`, `${theirs}.mlp.fc1`),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.fc2`),
    ]),
    ...norm('norm', 'model.final_layernorm'),
    ...linear('head', 'lm_head'),
  ],
  names: {
    prefix: 'model.',
    ignored: [[/\.rotary_emb\.inv_freq$/, 'the rotary frequencies, which follow from the config']],
    head: 'lm_head.weight',
  },
});
