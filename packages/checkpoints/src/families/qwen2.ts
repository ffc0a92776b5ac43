/** Qwen 2 and 2.5 (Yang et al. 2024). Llama with biases on q, k and v; later layers may have a sliding window. */
import { type ModelConfig, z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { layerType, layerTypes, typesOf, windows } from './layer-types.ts';
import { type LlamaKeys, llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag, number, optionalSize } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const qwenKeys = {
  ...llamaKeys,
  use_sliding_window: flag(false),
  sliding_window: optionalSize,
  max_window_layers: number(28).or(z.literal(0)),
  layer_types: z.array(layerType).nullish(),
};

type QwenKeys = LlamaKeys & z.output<z.ZodObject<typeof qwenKeys>>;

/** The layers from `max_window_layers` on have the window, if windows are used at all. */
export const readWindows = (hf: QwenKeys) => {
  const size = hf.use_sliding_window ? (hf.sliding_window ?? undefined) : undefined;
  return (
    size &&
    windows(
      layerTypes(hf.layer_types, hf.num_hidden_layers, (l) => l < hf.max_window_layers),
      size,
    )
  );
};

export const writeWindows = (model: ModelConfig) => {
  const { types, size } = typesOf(model);
  return {
    use_sliding_window: size !== null,
    sliding_window: size,
    max_window_layers: types.lastIndexOf('full_attention') + 1,
    layer_types: types,
  };
};

export const qwen2 = defineFamily({
  name: 'qwen2',
  architecture: 'Qwen2ForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject(qwenKeys),
  read: (hf) => ({
    model: { ...readLlama(hf), attentionBias: 'qkv', slidingWindow: readWindows(hf) },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => ({ ...writeLlama(model), ...writeWindows(model), ...writeRope(encoding) }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
