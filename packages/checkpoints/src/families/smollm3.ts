/** SmolLM3 (Bakouch et al. 2025). Llama whose every fourth layer knows no positions. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag, number, only } from './options.ts';
import { readRope, writeRope } from './rope.ts';
import { readInterleaved, ropeIn, usesRope } from './some-layers.ts';

export const smollm3 = defineFamily({
  name: 'smollm3',
  architecture: 'SmolLM3ForCausalLM',
  notes: [],
  encodings: ['perLayer'],
  config: z.looseObject({
    ...llamaKeys,
    attention_bias: flag(false),
    mlp_bias: flag(false),
    tie_word_embeddings: flag(true),
    use_sliding_window: only(false),
    /** 1: the layer has RoPE. */
    no_rope_layers: z.array(z.union([z.literal(0), z.literal(1)])).nullish(),
    no_rope_layer_interval: number(4),
  }),
  read: (hf) => ({
    model: { ...readLlama(hf), attentionBias: hf.attention_bias ? 'all' : 'none', mlpBias: hf.mlp_bias },
    encoding: readInterleaved(
      readRope(hf, { base: 2e6 }),
      hf.num_hidden_layers,
      (layer) => (hf.no_rope_layers?.[layer] ?? Number((layer + 1) % hf.no_rope_layer_interval !== 0)) === 1,
    ),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    attention_bias: model.attentionBias === 'all',
    mlp_bias: model.mlpBias,
    no_rope_layers: usesRope(encoding, model.numLayers).map(Number),
    ...writeRope(ropeIn(encoding)),
  }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
