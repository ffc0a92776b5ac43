/** Phi 3 (Abdin et al. 2024). Llama with q, k and v in one tensor, gate and up in another; LongRoPE for long contexts. */
import { z } from '@posenc/core';
import { copy, fusedLinear, layers, linear, norm, queryKeyValue, transposed } from '../binding.ts';
import { defineFamily } from './family.ts';
import { typesOf } from './layer-types.ts';
import { llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { number, only, optionalSize } from './options.ts';
import { readRope, writeRope } from './rope.ts';

const fusion = { outputs: 'first', groups: 1 } as const;

export const phi3 = defineFamily({
  name: 'phi3',
  architecture: 'Phi3ForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({
    ...llamaKeys,
    rms_norm_eps: number(1e-5),
    attention_bias: only(false),
    sliding_window: optionalSize,
  }),
  read: (hf) => ({
    model: { ...readLlama(hf), slidingWindow: hf.sliding_window ?? undefined },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    sliding_window: typesOf(model).size,
    ...writeRope(encoding),
  }),
  bindings: (model) => [
    copy('embedding.tokens', 'model.embed_tokens.weight'),
    ...layers(model.numLayers, 'model.layers', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.input_layernorm`),
      ...fusedLinear(queryKeyValue(`${ours}.attention`), `${theirs}.self_attn.qkv_proj`, fusion),
      ...linear(`${ours}.attention.output`, `${theirs}.self_attn.o_proj`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.post_attention_layernorm`),
      ...fusedLinear([`${ours}.mlp.gate`, `${ours}.mlp.up`], `${theirs}.mlp.gate_up_proj`, fusion),
      ...linear(`${ours}.mlp.down`, `${theirs}.mlp.down_proj`),
    ]),
    ...norm('norm', 'model.norm'),
    transposed('head.weight', 'lm_head.weight'),
  ],
  names: llamaNames,
});
