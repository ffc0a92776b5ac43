/** Cohere's Command R7B (2024). Command R whose layers with a window have RoPE, and whose others know no positions. */
import { z } from '@posenc/core';
import { cohereKeys, readCohere, writeCohere } from './cohere.ts';
import { defineFamily } from './family.ts';
import { layerType, layerTypes, typesOf, windows } from './layer-types.ts';
import { llamaBindings, llamaNames } from './llama-like.ts';
import { number } from './options.ts';
import { readRope, writeRope } from './rope.ts';
import { readInterleaved, ropeIn } from './some-layers.ts';

export const cohere2 = defineFamily({
  name: 'cohere2',
  architecture: 'Cohere2ForCausalLM',
  notes: [],
  encodings: ['perLayer'],
  config: z.looseObject({
    ...cohereKeys,
    sliding_window: number(4096),
    sliding_window_pattern: number(4),
    layer_types: z.array(layerType).nullish(),
  }),
  read: (hf) => {
    const isFull = (layer: number) => (layer + 1) % hf.sliding_window_pattern === 0;
    const types = layerTypes(hf.layer_types, hf.num_hidden_layers, isFull);
    return {
      model: { ...readCohere(hf), slidingWindow: windows(types, hf.sliding_window) },
      encoding: readInterleaved(
        readRope(hf, { pairing: 'interleaved' }),
        hf.num_hidden_layers,
        (layer) => types[layer] === 'sliding_attention',
      ),
    };
  },
  write: (model, encoding) => {
    const { types, size } = typesOf(model);
    return {
      ...writeCohere(model),
      ...(size !== null && { sliding_window: size }),
      sliding_window_pattern: types.indexOf('full_attention') + 1 || model.numLayers + 1,
      layer_types: types,
      ...writeRope(ropeIn(encoding)),
    };
  },
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
