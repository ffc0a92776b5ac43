/** GPT-2 (Radford et al. 2019). Learned positions; one Conv1D [in, 3·D] holds queries, keys and values; tied head. */
import { z } from '@posenc/core';
import { conv1d, copy, fusedLinear, layers, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, number, only, optionalSize, plainActivation, size } from './options.ts';

export const gpt2 = defineFamily({
  name: 'gpt2',
  architecture: 'GPT2LMHeadModel',
  notes: [
    'Hugging Face counts positions over columns, padding included, unless position_ids are given; here they are counted over real tokens. For the former give `positions: range(T)`.',
  ],
  encodings: ['learned'],
  aliases: {
    hidden_size: 'n_embd',
    num_hidden_layers: 'n_layer',
    num_attention_heads: 'n_head',
    max_position_embeddings: 'n_positions',
  },
  config: z.looseObject({
    vocab_size: size,
    n_positions: size,
    n_embd: size,
    n_layer: layerCount,
    n_head: size,
    n_inner: optionalSize,
    activation_function: plainActivation,
    layer_norm_epsilon: number(1e-5),
    scale_attn_weights: flag(true),
    scale_attn_by_inverse_layer_idx: only(false),
    add_cross_attention: only(false),
    tie_word_embeddings: flag(true),
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
      tiedEmbeddings: hf.tie_word_embeddings,
      scoreScale: hf.scale_attn_weights ? undefined : 1,
    },
    encoding: { type: 'learned', numPositions: hf.n_positions },
  }),
  write: (model, encoding) => ({
    vocab_size: model.vocabSize,
    n_positions: encoding.numPositions,
    n_embd: model.modelDim,
    n_layer: model.numLayers,
    n_head: model.numHeads,
    n_inner: model.mlpDim,
    activation_function: activationName(model.activation),
    layer_norm_epsilon: model.normEps,
    scale_attn_weights: model.scoreScale !== 1,
    tie_word_embeddings: model.tiedEmbeddings,
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'transformer.wte.weight'),
    copy('encoding.table', 'transformer.wpe.weight'),
    ...layers(model.numLayers, 'transformer.h', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.ln_1`),
      ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.attn.c_attn`, { outputs: 'last', groups: 1 }),
      ...conv1d(`${ours}.attention.output`, `${theirs}.attn.c_proj`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.ln_2`),
      ...conv1d(`${ours}.mlp.up`, `${theirs}.mlp.c_fc`),
      ...conv1d(`${ours}.mlp.down`, `${theirs}.mlp.c_proj`),
    ]),
    ...norm('norm', 'transformer.ln_f'),
    transposed('head.weight', 'lm_head.weight'),
  ],
  names: {
    prefix: 'transformer.',
    ignored: [[/\.attn\.(masked_)?bias$/, 'the causal mask, which is built anew']],
    head: 'lm_head.weight',
  },
});
