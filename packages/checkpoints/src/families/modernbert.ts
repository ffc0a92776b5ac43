/** ModernBERT (Warner et al. 2024) with its masked-token head. A pre-norm encoder; layers with a window have a RoPE of their own. */
import { PosencError, z } from '@posenc/core';
import { copy, fusedLinear, layers, linear, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily, type EncodingJson } from './family.ts';
import { layerType, layerTypes, shortestPattern, typesOf, windows } from './layer-types.ts';
import { activationName, flag, gatedActivation, layerCount, number, plainActivation, size } from './options.ts';
import { readRope, writeRope } from './rope.ts';
import { ropeParameters } from './rope-scalings.ts';
import { membersOf } from './some-layers.ts';

const fusion = { outputs: 'first', groups: 1 } as const;

export const modernbert = defineFamily({
  name: 'modernbert',
  architecture: 'ModernBertForMaskedLM',
  notes: [],
  encodings: ['perLayer'],
  config: z.looseObject({
    vocab_size: size,
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: layerCount,
    num_attention_heads: size,
    hidden_activation: gatedActivation.default('geglu'),
    classifier_activation: plainActivation.default('gelu'),
    norm_eps: number(1e-5),
    norm_bias: flag(false),
    attention_bias: flag(false),
    mlp_bias: flag(false),
    classifier_bias: flag(false),
    decoder_bias: flag(true),
    /** Tokens seen, half of them on either side. */
    local_attention: z.int().min(2).multipleOf(2, { error: 'expected an even number' }).default(128),
    layer_types: z.array(layerType).nullish(),
    global_attn_every_n_layers: number(3),
    rope_parameters: z
      .looseObject({ full_attention: ropeParameters.nullish(), sliding_attention: ropeParameters.nullish() })
      .nullish(),
    global_rope_theta: number(160000),
    local_rope_theta: number(10000),
    tie_word_embeddings: flag(true),
  }),
  read: (hf) => {
    if (hf.classifier_bias !== hf.mlp_bias)
      throw new PosencError(
        `config.json: "classifier_bias" is ${hf.classifier_bias} and "mlp_bias" is ${hf.mlp_bias}: only models where they agree can be loaded`,
      );
    const types = layerTypes(
      hf.layer_types,
      hf.num_hidden_layers,
      (layer) => layer % hf.global_attn_every_n_layers === 0,
    );
    const rope = (base: number, parameters: z.output<typeof ropeParameters> | null | undefined) =>
      readRope({ rope_parameters: { rope_theta: base, ...parameters } });
    return {
      model: {
        vocabSize: hf.vocab_size,
        modelDim: hf.hidden_size,
        numLayers: hf.num_hidden_layers,
        numHeads: hf.num_attention_heads,
        mlpDim: hf.intermediate_size,
        causal: false,
        normEps: hf.norm_eps,
        normBias: hf.norm_bias,
        embeddingNorm: true,
        skipFirstNorm: true,
        activation: hf.hidden_activation,
        attentionBias: hf.attention_bias ? 'all' : 'none',
        mlpBias: hf.mlp_bias,
        slidingWindow: windows(types, hf.local_attention),
        headTransform: hf.classifier_activation,
        headBias: hf.decoder_bias,
        tiedEmbeddings: hf.tie_word_embeddings,
      },
      encoding: {
        type: 'perLayer',
        of: [
          rope(hf.global_rope_theta, hf.rope_parameters?.full_attention),
          rope(hf.local_rope_theta, hf.rope_parameters?.sliding_attention),
        ],
        pattern: shortestPattern(types.map((type) => (type === 'full_attention' ? 0 : 1))),
      },
    };
  },
  write: (model, encoding) => {
    const [full, local] = membersOf(encoding, ['rope', 'rope']) as [EncodingJson, EncodingJson];
    const { types, size: window } = typesOf(model);
    const { rope_theta: globalBase, rope_parameters } = writeRope(full);
    return {
      vocab_size: model.vocabSize,
      hidden_size: model.modelDim,
      intermediate_size: model.mlpDim,
      num_hidden_layers: model.numLayers,
      num_attention_heads: model.numHeads,
      hidden_activation: activationName(model.activation),
      classifier_activation: model.headTransform && activationName(model.headTransform),
      norm_eps: model.normEps,
      norm_bias: model.normBias,
      attention_bias: model.attentionBias === 'all',
      mlp_bias: model.mlpBias,
      classifier_bias: model.mlpBias,
      decoder_bias: model.headBias,
      ...(window !== null && { local_attention: window }),
      layer_types: types,
      global_attn_every_n_layers: Math.max(1, types.indexOf('full_attention', 1)),
      rope_parameters,
      global_rope_theta: globalBase,
      local_rope_theta: local.base,
      tie_word_embeddings: model.tiedEmbeddings,
    };
  },
  bindings: (model) => [
    copy('embedding.tokens', 'model.embeddings.tok_embeddings.weight'),
    ...norm('embedding.norm', 'model.embeddings.norm'),
    ...layers(model.numLayers, 'model.layers', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.attn_norm`),
      ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.attn.Wqkv`, fusion),
      ...linear(`${ours}.attention.output`, `${theirs}.attn.Wo`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.mlp_norm`),
      ...fusedLinear([`${ours}.mlp.gate`, `${ours}.mlp.up`], `${theirs}.mlp.Wi`, fusion),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.Wo`),
    ]),
    ...norm('norm', 'model.final_norm'),
    ...linear('head.transform', 'head.dense'),
    ...norm('head.norm', 'head.norm'),
    transposed('head.weight', 'decoder.weight'),
    copy('head.bias', 'decoder.bias'),
  ],
  names: { prefix: 'model.', head: 'decoder.weight' },
});
