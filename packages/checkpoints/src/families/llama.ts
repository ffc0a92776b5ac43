/** Llama 1 to 3 (Touvron et al. 2023). RoPE in halves, grouped queries, RMSNorm, SwiGLU. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const llama = defineFamily({
  name: 'llama',
  architecture: 'LlamaForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({ ...llamaKeys, attention_bias: flag(false), mlp_bias: flag(false) }),
  read: (hf) => ({
    model: { ...readLlama(hf), attentionBias: hf.attention_bias ? 'all' : 'none', mlpBias: hf.mlp_bias },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    attention_bias: model.attentionBias === 'all',
    mlp_bias: model.mlpBias,
    ...writeRope(encoding),
  }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
