/** Gemma 3's text model (2025). Gemma 2 with norms of queries and keys, and a RoPE of its own for layers with a window. */
import { z } from '@posenc/core';
import { defineFamily, type EncodingJson } from './family.ts';
import { gemma2Bindings, gemma2Keys, readGemma2, writeGemma2 } from './gemma2.ts';
import { layerTypes, shortestPattern, typesOf } from './layer-types.ts';
import { llamaNames } from './llama-like.ts';
import { number, only } from './options.ts';
import { readRope, writeRope } from './rope.ts';
import { ropeParameters } from './rope-scalings.ts';
import { membersOf } from './some-layers.ts';

export const gemma3 = defineFamily({
  name: 'gemma3_text',
  architecture: 'Gemma3ForCausalLM',
  notes: [],
  encodings: ['perLayer'],
  config: z.looseObject({
    ...gemma2Keys,
    sliding_window_pattern: number(6),
    rope_local_base_freq: number(10000),
    rope_theta: number(1e6),
    rope_parameters: z
      .looseObject({ full_attention: ropeParameters.nullish(), sliding_attention: ropeParameters.nullish() })
      .nullish(),
    use_bidirectional_attention: only(false),
  }),
  read: (hf) => {
    const { rope_parameters: byType, ...keys } = hf;
    const isFull = (layer: number) => (layer + 1) % hf.sliding_window_pattern === 0;
    const types = layerTypes(hf.layer_types, hf.num_hidden_layers, isFull);
    const local = { rope_theta: hf.rope_local_base_freq, ...byType?.sliding_attention };
    return {
      model: { ...readGemma2(hf, isFull), qkNorm: true },
      encoding: {
        type: 'perLayer',
        of: [
          readRope({ ...keys, rope_scaling: undefined, rope_parameters: local }),
          readRope({ ...keys, rope_parameters: byType?.full_attention }),
        ],
        pattern: shortestPattern(types.map((type) => (type === 'full_attention' ? 1 : 0))),
      },
    };
  },
  write: (model, encoding) => {
    const [local, full] = membersOf(encoding, ['rope', 'rope']) as [EncodingJson, EncodingJson];
    return {
      ...writeGemma2(model),
      sliding_window_pattern: typesOf(model).types.indexOf('full_attention') + 1 || model.numLayers + 1,
      rope_local_base_freq: local.base,
      ...writeRope(full),
    };
  },
  bindings: gemma2Bindings,
  names: llamaNames,
});
