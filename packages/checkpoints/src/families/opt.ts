/** OPT (Zhang et al. 2022). Learned positions in a table whose first two rows are unused; separate q, k, v; tied head. */
import { PosencError, z } from '@posenc/core';
import { copy, layers, linear, norm, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, only, optionalSize, plainActivation, size } from './options.ts';

const OFFSET = 2;

export const opt = defineFamily({
  name: 'opt',
  architecture: 'OPTForCausalLM',
  notes: [],
  encodings: ['learned'],
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    ffn_dim: size,
    num_hidden_layers: layerCount,
    num_attention_heads: size,
    max_position_embeddings: size,
    activation_function: plainActivation,
    word_embed_proj_dim: optionalSize,
    enable_bias: flag(true),
    do_layer_norm_before: only(true),
    _remove_final_layer_norm: only(false),
    layer_norm_elementwise_affine: only(true),
    tie_word_embeddings: flag(true),
  }),
  read: (hf) => {
    const width = hf.word_embed_proj_dim ?? hf.hidden_size;
    if (width !== hf.hidden_size)
      throw new PosencError(
        `config.json: "word_embed_proj_dim" is ${width}: only models whose embedding is as wide as the rest (${hf.hidden_size}) can be loaded`,
      );
    return {
      model: {
        vocabSize: hf.vocab_size,
        modelDim: hf.hidden_size,
        numLayers: hf.num_hidden_layers,
        numHeads: hf.num_attention_heads,
        mlpDim: hf.ffn_dim,
        activation: hf.activation_function,
        attentionBias: hf.enable_bias ? 'all' : 'none',
        mlpBias: hf.enable_bias,
        tiedEmbeddings: hf.tie_word_embeddings,
      },
      encoding: { type: 'learned', numPositions: hf.max_position_embeddings, offset: OFFSET },
    };
  },
  write: (model, encoding) => ({
    vocab_size: model.vocabSize,
    hidden_size: model.modelDim,
    word_embed_proj_dim: model.modelDim,
    ffn_dim: model.mlpDim,
    num_hidden_layers: model.numLayers,
    num_attention_heads: model.numHeads,
    max_position_embeddings: encoding.numPositions,
    activation_function: activationName(model.activation),
    enable_bias: model.mlpBias,
    do_layer_norm_before: true,
    tie_word_embeddings: model.tiedEmbeddings,
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'model.decoder.embed_tokens.weight'),
    copy('encoding.table', 'model.decoder.embed_positions.weight'),
    ...layers(model.numLayers, 'model.decoder.layers', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.self_attn_layer_norm`),
      ...linear(`${ours}.attention.query`, `${theirs}.self_attn.q_proj`),
      ...linear(`${ours}.attention.key`, `${theirs}.self_attn.k_proj`),
      ...linear(`${ours}.attention.value`, `${theirs}.self_attn.v_proj`),
      ...linear(`${ours}.attention.output`, `${theirs}.self_attn.out_proj`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.final_layer_norm`),
      ...linear(`${ours}.mlp.up`, `${theirs}.fc1`),
      ...linear(`${ours}.mlp.down`, `${theirs}.fc2`),
    ]),
    ...norm('norm', 'model.decoder.final_layer_norm'),
    transposed('head.weight', 'lm_head.weight'),
  ],
  names: { prefix: 'model.', head: 'lm_head.weight' },
});
