/** GPT-NeoX and Pythia (Black et al. 2022). RoPE on part of each head, attention and MLP in parallel, q, k, v fused head by head. */
import { z } from '@posenc/core';
import { copy, fusedLinear, layers, linear, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, number, plainActivation, size } from './options.ts';
import { readRope, ropeKeys, writeRope } from './rope.ts';

export const gptNeox = defineFamily({
  name: 'gpt_neox',
  architecture: 'GPTNeoXForCausalLM',
  notes: [],
  encodings: ['rope'],
  aliases: { rotary_pct: 'partial_rotary_factor', rotary_emb_base: 'rope_theta' },
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: layerCount,
    num_attention_heads: size,
    hidden_act: plainActivation,
    layer_norm_eps: number(1e-5),
    use_parallel_residual: flag(true),
    attention_bias: flag(true),
    tie_word_embeddings: flag(false),
    ...ropeKeys,
  }),
  read: (hf) => ({
    model: {
      vocabSize: hf.vocab_size,
      modelDim: hf.hidden_size,
      numLayers: hf.num_hidden_layers,
      numHeads: hf.num_attention_heads,
      mlpDim: hf.intermediate_size,
      normEps: hf.layer_norm_eps,
      activation: hf.hidden_act,
      parallelResidual: hf.use_parallel_residual,
      attentionBias: hf.attention_bias ? 'all' : 'none',
      tiedEmbeddings: hf.tie_word_embeddings,
    },
    encoding: readRope(hf, { partialRotaryFactor: 0.25 }),
  }),
  write: (model, encoding) => {
    const { partial_rotary_factor: part, rope_theta: base, ...rope } = writeRope(encoding);
    return {
      vocab_size: model.vocabSize,
      hidden_size: model.modelDim,
      intermediate_size: model.mlpDim,
      num_hidden_layers: model.numLayers,
      num_attention_heads: model.numHeads,
      hidden_act: activationName(model.activation),
      layer_norm_eps: model.normEps,
      use_parallel_residual: model.parallelResidual,
      attention_bias: model.attentionBias === 'all',
      tie_word_embeddings: model.tiedEmbeddings,
      ...rope,
      rotary_pct: part,
      rotary_emb_base: base,
    };
  },
  bindings: (model) => [
    copy('embedding.tokens', 'gpt_neox.embed_in.weight'),
    ...layers(model.numLayers, 'gpt_neox.layers', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.input_layernorm`),
      ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.attention.query_key_value`, {
        outputs: 'first',
        groups: model.numHeads,
      }),
      ...linear(`${ours}.attention.output`, `${theirs}.attention.dense`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.post_attention_layernorm`),
      ...linear(`${ours}.mlp.up`, `${theirs}.mlp.dense_h_to_4h`),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.dense_4h_to_h`),
    ]),
    ...norm('norm', 'gpt_neox.final_layer_norm'),
    transposed('head.weight', 'embed_out.weight'),
  ],
  names: {
    prefix: 'gpt_neox.',
    ignored: [
      [/\.attention\.(masked_)?bias$/, 'the causal mask, which is built anew'],
      [/\.rotary_emb\.inv_freq$/, 'the rotary frequencies, which follow from the config'],
    ],
    head: 'embed_out.weight',
  },
});
