/** GPT-J (Wang & Komatsuzaki 2021). Interleaved RoPE on part of each head; attention and MLP in parallel after one norm. */
import { z } from '@posenc/core';
import { copy, layers, linear, norm } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, number, optionalSize, plainActivation, size } from './options.ts';

export const gptj = defineFamily({
  name: 'gptj',
  architecture: 'GPTJForCausalLM',
  notes: [],
  encodings: ['rope'],
  aliases: { hidden_size: 'n_embd', num_hidden_layers: 'n_layer', num_attention_heads: 'n_head' },
  config: z.looseObject({
    vocab_size: size,
    n_embd: size,
    n_layer: layerCount,
    n_head: size,
    n_inner: optionalSize,
    rotary_dim: size,
    activation_function: plainActivation,
    layer_norm_epsilon: number(1e-5),
    tie_word_embeddings: flag(false),
  }),
  read: (hf) => ({
    model: {
      vocabSize: hf.vocab_size,
      modelDim: hf.n_embd,
      numLayers: hf.n_layer,
      numHeads: hf.n_head,
      mlpDim: hf.n_inner ?? undefined,
      normEps: hf.layer_norm_epsilon,
      activation: hf.activation_function,
      parallelResidual: 'sharedNorm',
      attentionBias: 'none',
      headBias: true,
      tiedEmbeddings: hf.tie_word_embeddings,
    },
    encoding: { type: 'rope', pairing: 'interleaved', rotaryDim: hf.rotary_dim },
  }),
  write: (model, encoding) => ({
    vocab_size: model.vocabSize,
    n_embd: model.modelDim,
    n_layer: model.numLayers,
    n_head: model.numHeads,
    n_inner: model.mlpDim,
    rotary_dim: encoding.rotaryDim ?? model.headDim,
    activation_function: activationName(model.activation),
    layer_norm_epsilon: model.normEps,
    tie_word_embeddings: model.tiedEmbeddings,
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'transformer.wte.weight'),
    ...layers(model.numLayers, 'transformer.h', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.ln_1`),
      ...linear(`${ours}.attention.query`, `${theirs}.attn.q_proj`),
      ...linear(`${ours}.attention.key`, `${theirs}.attn.k_proj`),
      ...linear(`${ours}.attention.value`, `${theirs}.attn.v_proj`),
      ...linear(`${ours}.attention.output`, `${theirs}.attn.out_proj`),
      ...linear(`${ours}.mlp.up`, `${theirs}.mlp.fc_in`),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.fc_out`),
    ]),
    ...norm('norm', 'transformer.ln_f'),
    ...linear('head', 'lm_head'),
  ],
  names: {
    prefix: 'transformer.',
    ignored: [
      [/\.attn\.(masked_)?bias$/, 'the causal mask, which is built anew'],
      [/\.attn\.embed_positions$/, 'the rotary table, which follows from the config'],
    ],
    head: 'lm_head.weight',
  },
});
