/** Gemma (Mesnard et al. 2024). Llama with embeddings × √D, gains stored as their difference from 1, a gate of GELU, a tied head. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { type LlamaKeys, llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { activationName, flag, gatedActivation } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const gemmaKeys = {
  ...llamaKeys,
  hidden_act: gatedActivation.nullish(),
  /** Wins over `hidden_act`, which older files state wrongly. */
  hidden_activation: gatedActivation.nullish(),
  attention_bias: flag(false),
  tie_word_embeddings: flag(true),
};

type GemmaKeys = Omit<LlamaKeys, 'hidden_act'> & z.output<z.ZodObject<typeof gemmaKeys>>;

export const readGemma = (hf: GemmaKeys) => ({
  ...readLlama({ ...hf, hidden_act: hf.hidden_activation ?? hf.hidden_act ?? 'geglu-tanh' }),
  headDim: hf.head_dim ?? 256,
  attentionBias: hf.attention_bias ? ('all' as const) : ('none' as const),
  embeddingScale: 'sqrtModelDim' as const,
  zeroCenteredGain: true,
});

export const gemma = defineFamily({
  name: 'gemma',
  architecture: 'GemmaForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject(gemmaKeys),
  read: (hf) => ({ model: readGemma(hf), encoding: readRope(hf) }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    hidden_activation: activationName(model.activation),
    attention_bias: model.attentionBias === 'all',
    ...writeRope(encoding),
  }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
