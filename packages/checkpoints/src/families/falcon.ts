/** Falcon with RoPE (Almazrouei et al. 2023): 7B's one key/value head and one norm, 40B's groups and two norms, or neither. */
import { type ModelConfig, z } from '@posenc/core';
import { copy, fusedLinear, layers, linear, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { activationName, flag, layerCount, number, optionalSize, plainActivation, size } from './options.ts';
import { readRope, ropeKeys, writeRope } from './rope.ts';

export const falcon = defineFamily({
  name: 'falcon',
  architecture: 'FalconForCausalLM',
  notes: [],
  encodings: ['rope'],
  aliases: { n_layer: 'num_hidden_layers', n_head: 'num_attention_heads', n_head_kv: 'num_kv_heads' },
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    ffn_hidden_size: optionalSize,
    num_hidden_layers: layerCount,
    num_attention_heads: size,
    num_kv_heads: optionalSize,
    multi_query: flag(true),
    new_decoder_architecture: flag(false),
    num_ln_in_parallel_attn: optionalSize,
    parallel_attn: flag(true),
    bias: flag(false),
    alibi: z.literal(false, { error: 'Falcon rounds its ALiBi to bfloat16, for which there is no encoding' }).nullish(),
    activation: plainActivation.default('gelu'),
    layer_norm_epsilon: number(1e-5),
    tie_word_embeddings: flag(true),
    ...ropeKeys,
  }),
  read: (hf) => {
    const twoNorms = hf.new_decoder_architecture && hf.num_ln_in_parallel_attn !== 1;
    const parallel = hf.new_decoder_architecture || hf.parallel_attn;
    const grouped = hf.new_decoder_architecture ? (hf.num_kv_heads ?? hf.num_attention_heads) : undefined;
    return {
      model: {
        vocabSize: hf.vocab_size,
        modelDim: hf.hidden_size,
        numLayers: hf.num_hidden_layers,
        numHeads: hf.num_attention_heads,
        numKvHeads: grouped ?? (hf.multi_query ? 1 : undefined),
        mlpDim: hf.ffn_hidden_size ?? undefined,
        normEps: hf.layer_norm_epsilon,
        activation: hf.activation,
        parallelResidual: parallel && (twoNorms || 'sharedNorm'),
        attentionBias: hf.bias ? 'all' : 'none',
        mlpBias: hf.bias,
        tiedEmbeddings: hf.tie_word_embeddings,
      },
      encoding: readRope(hf),
    };
  },
  write: (model, encoding) => {
    const grouped = isGrouped(model);
    return {
      vocab_size: model.vocabSize,
      hidden_size: model.modelDim,
      ffn_hidden_size: model.mlpDim,
      num_hidden_layers: model.numLayers,
      num_attention_heads: model.numHeads,
      num_kv_heads: model.numKvHeads,
      multi_query: model.numKvHeads === 1,
      new_decoder_architecture: grouped,
      num_ln_in_parallel_attn: grouped ? (model.parallelResidual === 'sharedNorm' ? 1 : 2) : null,
      parallel_attn: model.parallelResidual !== false,
      bias: model.mlpBias,
      alibi: false,
      activation: activationName(model.activation),
      layer_norm_epsilon: model.normEps,
      tie_word_embeddings: model.tiedEmbeddings,
      ...writeRope(encoding),
    };
  },
  bindings: (model) => {
    const twoNorms = model.parallelResidual === true;
    return [
      copy('embedding.tokens', 'transformer.word_embeddings.weight'),
      ...layers(model.numLayers, 'transformer.h', (ours, theirs) => [
        ...norm(`${ours}.attention.norm`, `${theirs}.${twoNorms ? 'ln_attn' : 'input_layernorm'}`),
        ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.self_attention.query_key_value`, {
          outputs: 'first',
          groups: model.numKvHeads,
        }),
        ...linear(`${ours}.attention.output`, `${theirs}.self_attention.dense`),
        ...norm(`${ours}.mlp.norm`, `${theirs}.${twoNorms ? 'ln_mlp' : 'post_attention_layernorm'}`),
        ...linear(`${ours}.mlp.up`, `${theirs}.mlp.dense_h_to_4h`),
        ...linear(`${ours}.mlp.down`, `${theirs}.mlp.dense_4h_to_h`),
      ]),
      ...norm('norm', 'transformer.ln_f'),
      transposed('head.weight', 'lm_head.weight'),
    ];
  },
  names: {
    prefix: 'transformer.',
    ignored: [
      [/\.rotary_emb\.inv_freq$|\.maybe_rotary\.inv_freq$/, 'the rotary frequencies, which follow from the config'],
    ],
    head: 'lm_head.weight',
  },
});

/** What only the newer architecture can be: groups of several key/value heads, or two norms side by side. */
const isGrouped = ({ numHeads, numKvHeads, parallelResidual }: ModelConfig): boolean =>
  parallelResidual === true || (numKvHeads > 1 && numKvHeads < numHeads);
