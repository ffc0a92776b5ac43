/** BLOOM (Scao et al. 2022). ALiBi with the authors' slopes, a norm after the embedding, q, k, v fused head by head, tied head. */
import { z } from '@posenc/core';
import { copy, fusedLinear, layers, linear, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { flag, layerCount, number, only, size } from './options.ts';

export const bloom = defineFamily({
  name: 'bloom',
  architecture: 'BloomForCausalLM',
  notes: [],
  encodings: ['alibi'],
  aliases: { n_embed: 'hidden_size', num_hidden_layers: 'n_layer', num_attention_heads: 'n_head' },
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    n_layer: layerCount,
    n_head: size,
    layer_norm_epsilon: number(1e-5),
    apply_residual_connection_post_layernorm: only(false),
    tie_word_embeddings: flag(true),
  }),
  read: (hf) => ({
    model: {
      vocabSize: hf.vocab_size,
      modelDim: hf.hidden_size,
      numLayers: hf.n_layer,
      numHeads: hf.n_head,
      embeddingNorm: true,
      normEps: hf.layer_norm_epsilon,
      activation: 'gelu-tanh',
      tiedEmbeddings: hf.tie_word_embeddings,
    },
    encoding: { type: 'alibi' },
  }),
  write: (model) => ({
    vocab_size: model.vocabSize,
    hidden_size: model.modelDim,
    n_layer: model.numLayers,
    n_head: model.numHeads,
    layer_norm_epsilon: model.normEps,
    tie_word_embeddings: model.tiedEmbeddings,
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'transformer.word_embeddings.weight'),
    ...norm('embedding.norm', 'transformer.word_embeddings_layernorm'),
    ...layers(model.numLayers, 'transformer.h', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.input_layernorm`),
      ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.self_attention.query_key_value`, {
        outputs: 'first',
        groups: model.numHeads,
      }),
      ...linear(`${ours}.attention.output`, `${theirs}.self_attention.dense`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.post_attention_layernorm`),
      ...linear(`${ours}.mlp.up`, `${theirs}.mlp.dense_h_to_4h`),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.dense_4h_to_h`),
    ]),
    ...norm('norm', 'transformer.ln_f'),
    transposed('head.weight', 'lm_head.weight'),
  ],
  names: { prefix: 'transformer.', head: 'lm_head.weight' },
});
