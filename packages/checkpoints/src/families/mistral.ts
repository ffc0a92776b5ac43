/** Mistral (Jiang et al. 2023). Llama with one sliding window for all layers. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { typesOf } from './layer-types.ts';
import { llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { optionalSize } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const mistral = defineFamily({
  name: 'mistral',
  architecture: 'MistralForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({ ...llamaKeys, sliding_window: optionalSize }),
  read: (hf) => ({
    model: { ...readLlama(hf), slidingWindow: hf.sliding_window ?? undefined },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    sliding_window: typesOf(model).size,
    ...writeRope(encoding),
  }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
