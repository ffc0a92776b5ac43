/** Gemma 2 (Rivière et al. 2024). Norms before and after each sublayer, a window in every other layer, soft caps. */
import { type ModelConfig, type ModelInput, z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { gemmaKeys, readGemma } from './gemma.ts';
import { layerType, layerTypes, typesOf, windows } from './layer-types.ts';
import { llamaBindings, llamaNames, writeLlama } from './llama-like.ts';
import { activationName, number } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const gemma2Keys = {
  ...gemmaKeys,
  query_pre_attn_scalar: number(256),
  attn_logit_softcapping: z.number().positive().nullish(),
  final_logit_softcapping: z.number().positive().nullish(),
  sliding_window: number(4096),
  layer_types: z.array(layerType).nullish(),
};

type Gemma2Keys = Parameters<typeof readGemma>[0] & z.output<z.ZodObject<typeof gemma2Keys>>;

export const readGemma2 = (hf: Gemma2Keys, isFull: (layer: number) => boolean) =>
  ({
    ...readGemma(hf),
    normPlacement: 'both',
    scoreScale: hf.query_pre_attn_scalar ** -0.5,
    scoreSoftcap: hf.attn_logit_softcapping ?? undefined,
    logitSoftcap: hf.final_logit_softcapping ?? undefined,
    slidingWindow: windows(layerTypes(hf.layer_types, hf.num_hidden_layers, isFull), hf.sliding_window),
  }) satisfies ModelInput;

export const writeGemma2 = (model: ModelConfig) => {
  const { types, size } = typesOf(model);
  return {
    ...writeLlama(model),
    hidden_activation: activationName(model.activation),
    attention_bias: model.attentionBias === 'all',
    query_pre_attn_scalar: scalar(model.scoreScale),
    attn_logit_softcapping: model.scoreSoftcap ?? null,
    final_logit_softcapping: model.logitSoftcap ?? null,
    ...(size !== null && { sliding_window: size }),
    layer_types: types,
  };
};

/** The integer whose root the score scale is divided by, if it is one. */
const scalar = (scale: number): number => {
  const integer = Math.round(scale ** -2);
  return integer ** -0.5 === scale ? integer : scale ** -2;
};

export const gemma2Bindings = (model: ModelConfig) =>
  llamaBindings(model, {
    'attention.outputNorm': 'post_attention_layernorm',
    'mlp.norm': 'pre_feedforward_layernorm',
    'mlp.outputNorm': 'post_feedforward_layernorm',
  });

export const gemma2 = defineFamily({
  name: 'gemma2',
  architecture: 'Gemma2ForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({
    ...gemma2Keys,
    attn_logit_softcapping: gemma2Keys.attn_logit_softcapping.default(50),
    final_logit_softcapping: gemma2Keys.final_logit_softcapping.default(30),
  }),
  read: (hf) => ({ model: readGemma2(hf, (layer) => layer % 2 === 1), encoding: readRope(hf) }),
  write: (model, encoding) => ({ ...writeGemma2(model), ...writeRope(encoding) }),
  bindings: gemma2Bindings,
  names: llamaNames,
});
