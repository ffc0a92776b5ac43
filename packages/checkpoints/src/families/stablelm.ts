/** StableLM (Bellagente et al. 2024). Llama with LayerNorms, RoPE on a quarter of each head, and perhaps biases on q, k and v. */
import { z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag, number, only } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const stablelm = defineFamily({
  name: 'stablelm',
  architecture: 'StableLmForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({
    ...llamaKeys,
    layer_norm_eps: number(1e-5),
    use_qkv_bias: flag(false),
    use_parallel_residual: flag(false),
    qk_layernorm: only(false),
  }),
  read: (hf) => ({
    model: {
      ...readLlama(hf),
      norm: 'layernorm',
      normEps: hf.layer_norm_eps,
      attentionBias: hf.use_qkv_bias ? 'qkv' : 'none',
      parallelResidual: hf.use_parallel_residual && 'sharedNorm',
    },
    encoding: readRope(hf, { partialRotaryFactor: 0.25 }),
  }),
  write: (model, encoding) => ({
    ...writeLlama(model),
    layer_norm_eps: model.normEps,
    use_qkv_bias: model.attentionBias === 'qkv',
    use_parallel_residual: model.parallelResidual !== false,
    ...writeRope(encoding),
  }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
