/** Cohere's Command R (2024). Interleaved RoPE, LayerNorms without bias, parallel sublayers after one norm, scaled logits, tied head. */
import { type ModelConfig, z } from '@posenc/core';
import { defineFamily } from './family.ts';
import { type LlamaKeys, llamaBindings, llamaKeys, llamaNames, readLlama, writeLlama } from './llama-like.ts';
import { flag, number, only } from './options.ts';
import { readRope, writeRope } from './rope.ts';

export const cohereKeys = {
  ...llamaKeys,
  layer_norm_eps: number(1e-5),
  logit_scale: number(0.0625),
  attention_bias: flag(false),
  use_qk_norm: only(false),
  tie_word_embeddings: flag(true),
};

type CohereKeys = LlamaKeys & z.output<z.ZodObject<typeof cohereKeys>>;

export const readCohere = (hf: CohereKeys) => ({
  ...readLlama(hf),
  norm: 'layernorm' as const,
  normEps: hf.layer_norm_eps,
  normBias: false,
  parallelResidual: 'sharedNorm' as const,
  attentionBias: hf.attention_bias ? ('all' as const) : ('none' as const),
  logitScale: hf.logit_scale,
});

export const writeCohere = (model: ModelConfig) => ({
  ...writeLlama(model),
  layer_norm_eps: model.normEps,
  attention_bias: model.attentionBias === 'all',
  logit_scale: model.logitScale ?? 1,
});

export const cohere = defineFamily({
  name: 'cohere',
  architecture: 'CohereForCausalLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject(cohereKeys),
  read: (hf) => ({ model: readCohere(hf), encoding: readRope(hf, { pairing: 'interleaved', base: 500000 }) }),
  write: (model, encoding) => ({ ...writeCohere(model), ...writeRope(encoding) }),
  bindings: (model) => llamaBindings(model),
  names: llamaNames,
});
