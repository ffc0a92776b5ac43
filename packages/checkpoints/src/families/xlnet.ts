/** XLNet (Yang et al. 2019) reading in both directions. Transformer-XL's relative attention with biases by layer, norms after each sum. */
import { z } from '@posenc/core';
import { copy, layers, linear, norm, shaped, stacked, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, number, only, plainActivation, size } from './options.ts';

export const xlnet = defineFamily({
  name: 'xlnet',
  architecture: 'XLNetLMHeadModel',
  notes: ['All tokens are of one segment, nothing is permuted and there is no memory: XLNet as an encoder.'],
  encodings: ['transformer-xl'],
  aliases: { hidden_size: 'd_model', num_hidden_layers: 'n_layer', num_attention_heads: 'n_head' },
  config: z.looseObject({
    vocab_size: size,
    d_model: size,
    n_layer: layerCount,
    n_head: size,
    d_head: size.nullish(),
    d_inner: size,
    ff_activation: plainActivation,
    layer_norm_eps: number(1e-12),
    attn_type: z.literal('bi', { error: 'only models that read in both directions can be loaded' }).nullish(),
    bi_data: only(false),
    same_length: only(false),
    untie_r: only(true),
    /** -1: none. */
    clamp_len: z.int().nullish(),
    tie_word_embeddings: flag(true),
  }),
  read: (hf) => ({
    model: {
      vocabSize: hf.vocab_size,
      modelDim: hf.d_model,
      numLayers: hf.n_layer,
      numHeads: hf.n_head,
      headDim: hf.d_head ?? undefined,
      mlpDim: hf.d_inner,
      causal: false,
      normPlacement: 'post',
      normEps: hf.layer_norm_eps,
      activation: hf.ff_activation,
      attentionBias: 'none',
      headBias: true,
      tiedEmbeddings: hf.tie_word_embeddings,
    },
    encoding: {
      type: 'transformer-xl',
      untie: true,
      ...(hf.clamp_len && hf.clamp_len > 0 && { clampLen: hf.clamp_len }),
    },
  }),
  write: (model, encoding) => ({
    vocab_size: model.vocabSize,
    d_model: model.modelDim,
    n_layer: model.numLayers,
    n_head: model.numHeads,
    d_head: model.headDim,
    d_inner: model.mlpDim,
    ff_activation: activationName(model.activation),
    layer_norm_eps: model.normEps,
    attn_type: 'bi',
    untie_r: true,
    clamp_len: encoding.clampLen ?? -1,
    tie_word_embeddings: model.tiedEmbeddings,
  }),
  bindings: ({ numLayers, modelDim, numHeads, headDim }) => {
    const heads = [modelDim, numHeads, headDim];
    const everyLayer = (name: string) =>
      Array.from({ length: numLayers }, (_, l) => `transformer.layer.${l}.rel_attn.${name}`);
    return [
      copy('embedding.tokens', 'transformer.word_embedding.weight'),
      stacked('encoding.u', everyLayer('r_w_bias')),
      stacked('encoding.v', everyLayer('r_r_bias')),
      shaped(stacked('encoding.wR', everyLayer('r')), heads),
      ...layers(numLayers, 'transformer.layer', (ours, theirs) => [
        shaped(copy(`${ours}.attention.query.weight`, `${theirs}.rel_attn.q`), heads),
        shaped(copy(`${ours}.attention.key.weight`, `${theirs}.rel_attn.k`), heads),
        shaped(copy(`${ours}.attention.value.weight`, `${theirs}.rel_attn.v`), heads),
        shaped(transposed(`${ours}.attention.output.weight`, `${theirs}.rel_attn.o`), heads),
        ...norm(`${ours}.attention.norm`, `${theirs}.rel_attn.layer_norm`),
        ...linear(`${ours}.mlp.up`, `${theirs}.ff.layer_1`),
        ...linear(`${ours}.mlp.down`, `${theirs}.ff.layer_2`),
        ...norm(`${ours}.mlp.norm`, `${theirs}.ff.layer_norm`),
      ]),
      ...linear('head', 'lm_loss'),
    ];
  },
  names: {
    prefix: 'transformer.',
    ignored: [
      [/\.rel_attn\.(seg_embed|r_s_bias)$/, 'it tells segments apart, and here all tokens are of one'],
      [/^transformer\.mask_emb$/, 'the query of a token to be predicted, in training by permutation'],
    ],
    head: 'lm_loss.weight',
  },
});
