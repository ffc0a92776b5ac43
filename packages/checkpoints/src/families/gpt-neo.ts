/** GPT-Neo (Black et al. 2021). Learned positions, layers that see everything and layers with a window, unscaled scores, tied head. */
import { PosencError, z } from '@posenc/core';
import { copy, layers, linear, norm, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { type LayerType, typesOf, windows } from './layer-types.ts';
import { activationName, flag, layerCount, number, optionalSize, plainActivation, size } from './options.ts';

const kinds = { global: 'full_attention', local: 'sliding_attention' } as const;
const kind = z.enum(['global', 'local']);

export const gptNeo = defineFamily({
  name: 'gpt_neo',
  architecture: 'GPTNeoForCausalLM',
  notes: [
    'Hugging Face counts positions over columns, padding included, unless position_ids are given; here they are counted over real tokens. For the former give `positions: range(T)`.',
  ],
  encodings: ['learned'],
  aliases: { num_hidden_layers: 'num_layers', num_attention_heads: 'num_heads' },
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    num_layers: layerCount,
    num_heads: size,
    intermediate_size: optionalSize,
    max_position_embeddings: size,
    activation_function: plainActivation,
    layer_norm_epsilon: number(1e-5),
    /** [[kinds, how often], …] */
    attention_types: z.array(z.tuple([z.array(kind).max(1000), layerCount])),
    window_size: size,
    tie_word_embeddings: flag(true),
  }),
  read: (hf) => {
    const listed = hf.attention_types.flatMap(([some, times]) => Array.from({ length: times }, () => some).flat());
    if (listed.length !== hf.num_layers)
      throw new PosencError(
        `config.json: "attention_types" describes ${listed.length} layers, and "num_layers" is ${hf.num_layers}`,
      );
    return {
      model: {
        vocabSize: hf.vocab_size,
        modelDim: hf.hidden_size,
        numLayers: hf.num_layers,
        numHeads: hf.num_heads,
        mlpDim: hf.intermediate_size ?? undefined,
        normEps: hf.layer_norm_epsilon,
        activation: hf.activation_function,
        attentionBias: 'output',
        scoreScale: 1,
        slidingWindow: windows(
          listed.map((name): LayerType => kinds[name]),
          hf.window_size,
        ),
        tiedEmbeddings: hf.tie_word_embeddings,
      },
      encoding: { type: 'learned', numPositions: hf.max_position_embeddings },
    };
  },
  write: (model, encoding) => {
    const { types, size: window } = typesOf(model);
    const names = types.map((type) => (type === 'full_attention' ? 'global' : 'local'));
    return {
      vocab_size: model.vocabSize,
      hidden_size: model.modelDim,
      num_layers: model.numLayers,
      num_heads: model.numHeads,
      intermediate_size: model.mlpDim,
      max_position_embeddings: encoding.numPositions,
      activation_function: activationName(model.activation),
      layer_norm_epsilon: model.normEps,
      attention_types: [[names, 1]],
      attention_layers: names,
      window_size: window ?? 256,
      tie_word_embeddings: model.tiedEmbeddings,
    };
  },
  bindings: (model) => [
    copy('embedding.tokens', 'transformer.wte.weight'),
    copy('encoding.table', 'transformer.wpe.weight'),
    ...layers(model.numLayers, 'transformer.h', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.ln_1`),
      ...linear(`${ours}.attention.query`, `${theirs}.attn.attention.q_proj`),
      ...linear(`${ours}.attention.key`, `${theirs}.attn.attention.k_proj`),
      ...linear(`${ours}.attention.value`, `${theirs}.attn.attention.v_proj`),
      ...linear(`${ours}.attention.output`, `${theirs}.attn.attention.out_proj`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.ln_2`),
      ...linear(`${ours}.mlp.up`, `${theirs}.mlp.c_fc`),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.c_proj`),
    ]),
    ...norm('norm', 'transformer.ln_f'),
    transposed('head.weight', 'lm_head.weight'),
  ],
  names: {
    prefix: 'transformer.',
    ignored: [[/\.attn\.attention\.(masked_)?bias$/, 'the mask, which is built anew']],
    head: 'lm_head.weight',
  },
});
