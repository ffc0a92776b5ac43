/** MPT (MosaicML 2023). ALiBi, no biases at all, q, k and v in one tensor, an MLP of four times the width, tied head. */
import { z } from '@posenc/core';
import { copy, fusedLinear, layers, linear, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { flag, layerCount, number, only, size } from './options.ts';

export const mpt = defineFamily({
  name: 'mpt',
  architecture: 'MptForCausalLM',
  notes: ['expansion_ratio in config.json is not read: the MLP is always four times as wide as the model.'],
  encodings: ['alibi'],
  aliases: { hidden_size: 'd_model', num_hidden_layers: 'n_layers', num_attention_heads: 'n_heads' },
  config: z.looseObject({
    vocab_size: size,
    d_model: size,
    n_layers: layerCount,
    n_heads: size,
    layer_norm_epsilon: number(1e-5),
    attn_config: z.looseObject({
      alibi: z.literal(true, { error: 'only models with ALiBi can be loaded' }),
      alibi_bias_max: number(8),
      softmax_scale: z.number().positive().nullish(),
      clip_qkv: z.null({ error: 'clipped projections cannot be loaded' }).optional(),
      qk_ln: only(false),
      prefix_lm: only(false),
    }),
    no_bias: only(true),
    tie_word_embeddings: flag(true),
  }),
  read: (hf) => ({
    model: {
      vocabSize: hf.vocab_size,
      modelDim: hf.d_model,
      numLayers: hf.n_layers,
      numHeads: hf.n_heads,
      normEps: hf.layer_norm_epsilon,
      normBias: false,
      activation: 'gelu',
      attentionBias: 'none',
      mlpBias: false,
      scoreScale: hf.attn_config.softmax_scale ?? undefined,
      tiedEmbeddings: hf.tie_word_embeddings,
    },
    encoding: { type: 'alibi', maxBias: hf.attn_config.alibi_bias_max },
  }),
  write: (model, encoding) => ({
    vocab_size: model.vocabSize,
    d_model: model.modelDim,
    n_layers: model.numLayers,
    n_heads: model.numHeads,
    layer_norm_epsilon: model.normEps,
    attn_config: { alibi: true, alibi_bias_max: encoding.maxBias, softmax_scale: model.scoreScale },
    no_bias: true,
    tie_word_embeddings: model.tiedEmbeddings,
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'transformer.wte.weight'),
    ...layers(model.numLayers, 'transformer.blocks', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.norm_1`),
      ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.attn.Wqkv`, { outputs: 'first', groups: 1 }),
      ...linear(`${ours}.attention.output`, `${theirs}.attn.out_proj`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.norm_2`),
      ...linear(`${ours}.mlp.up`, `${theirs}.ffn.up_proj`),
      ...linear(`${ours}.mlp.down`, `${theirs}.ffn.down_proj`),
    ]),
    ...norm('norm', 'transformer.norm_f'),
    transposed('head.weight', 'lm_head.weight'),
  ],
  names: { prefix: 'transformer.', head: 'lm_head.weight' },
});
