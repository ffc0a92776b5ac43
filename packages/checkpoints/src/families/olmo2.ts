/** OLMo 2 (2024). Llama with norms on the outputs of sublayers, and RMS norms of queries and keys over all heads at once. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag, number } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const olmo2 = defineFamily({
  name: 'olmo2',
  architecture: 'Olmo2ForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({ ...llamaKeys, rms_norm_eps: number(1e-5), attention_bias: flag(false) }),
  read: (hf) => ({
    model: {
      ...readLlama(hf),
      attentionBias: hf.attention_bias ? 'all' : 'none',
      normPlacement: 'output',
      qkNorm: 'projection',
    },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    attention_bias: model.attentionBias === 'all',
    ...writeRope(encoding),
  }),
  bindings: (model) =>
    llamaBindings(model, { 'attention.norm': 'post_attention_layernorm', 'mlp.norm': 'post_feedforward_layernorm' }),
  names: llamaNames,
});
