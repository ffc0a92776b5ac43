/** A tiny Llama of golden/models in the shared transformer: only what these two files hold. */
import { readFileSync } from 'node:fs';
import { createTransformer, dimsOf, type Encoding, type Params, resolveModel, type Transformer } from '@posenc/core';
import { type RopeOptions, rope } from '@posenc/rope';
import * as tf from '@tensorflow/tfjs';

interface Header {
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

export interface LlamaConfig {
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly intermediate_size: number;
  readonly rms_norm_eps: number;
}

/** Matrices are stored [out, in] there and [in, out] here. */
const names: Readonly<Record<string, string>> = {
  'self_attn.q_proj.weight': 'attention.query.weight',
  'self_attn.k_proj.weight': 'attention.key.weight',
  'self_attn.v_proj.weight': 'attention.value.weight',
  'self_attn.o_proj.weight': 'attention.output.weight',
  'mlp.gate_proj.weight': 'mlp.gate.weight',
  'mlp.up_proj.weight': 'mlp.up.weight',
  'mlp.down_proj.weight': 'mlp.down.weight',
  'input_layernorm.weight': 'attention.norm.gain',
  'post_attention_layernorm.weight': 'mlp.norm.gain',
};

function pathOf(name: string): string {
  const [, layer, rest] = /^model\.layers\.(\d+)\.(.*)$/.exec(name) ?? [];
  if (layer !== undefined) return `layers.${layer}.${names[rest!]}`;
  return name === 'model.norm.weight' ? 'norm.gain' : 'embedding.tokens';
}

/** The model with this encoding, and its weights. */
export function loadLlama(
  folder: string,
  config: LlamaConfig,
  options: RopeOptions,
): { model: Transformer; params: Params } {
  const resolved = resolveModel({
    vocabSize: config.vocab_size,
    modelDim: config.hidden_size,
    numLayers: config.num_hidden_layers,
    numHeads: config.num_attention_heads,
    numKvHeads: config.num_key_value_heads,
    headDim: config.head_dim,
    mlpDim: config.intermediate_size,
    norm: 'rmsnorm',
    normEps: config.rms_norm_eps,
    activation: 'swiglu',
    attentionBias: 'none',
    mlpBias: false,
  });
  const encoding: Encoding = rope.create(rope.config.parse(options), dimsOf(resolved));
  const model = createTransformer(resolved, encoding);

  const bytes = readFileSync(new URL(`../golden/models/${folder}/model.safetensors`, import.meta.url));
  const headerSize = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + headerSize).toString('utf8')) as Record<string, Header>;
  const params: Record<string, tf.Tensor> = {};
  for (const [name, { shape, data_offsets: offsets }] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const [start, end] = offsets;
    const data = Float32Array.from({ length: (end - start) / 4 }, (_, i) =>
      bytes.readFloatLE(8 + headerSize + start + 4 * i),
    );
    const path = pathOf(name);
    const tensor = tf.tensor(data, [...shape]);
    params[path] = shape.length === 2 && path !== 'embedding.tokens' ? tensor.transpose() : tensor;
  }
  for (const [path, { shape }] of Object.entries(model.params))
    if (params[path]?.shape.join() !== shape.join()) throw new Error(`${path} is missing or has another shape`);
  return { model, params };
}
