/** Qwen 3 (Yang et al. 2025). Llama with RMS norms of queries and keys in each head, and heads of their own width. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { llamaBindings, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag } from './options.ts';
import { qwenKeys, readWindows, writeWindows } from './qwen2.ts';
import { readRope, writeRope } from './rope.ts';

export const qwen3 = defineFamily({
  name: 'qwen3',
  architecture: 'Qwen3ForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({ ...qwenKeys, attention_bias: flag(false) }),
  read: (hf) => ({
    model: {
      ...readLlama(hf),
      headDim: hf.head_dim ?? 128,
      attentionBias: hf.attention_bias ? 'all' : 'none',
      qkNorm: true,
      slidingWindow: readWindows(hf),
    },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    ...writeWindows(model),
    attention_bias: model.attentionBias === 'all',
    ...writeRope(encoding),
  }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
