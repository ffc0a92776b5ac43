/** What a family's code in Hugging Face transformers decides and its config.json does not say: by `model_type`, as of 5.24. */
import type { Pairing } from '../rotary.ts';
import type { Source } from './source.ts';

export interface Family {
  /** Default half. */
  readonly pairing?: Pairing;
  /** Where config.json gives none; default 10000. */
  readonly base?: number;
  /** Layers of type "sliding_attention" have a base of their own, by default this. */
  readonly localBase?: number;
  /** A `rope_scaling` that is not told by layer type is for the layers of full attention only. */
  readonly scalesFullOnly?: boolean;
  /** Where config.json gives none; default 1. */
  readonly partialRotaryFactor?: number;
  readonly rotaryDim?: number;
  /** Where config.json has no `layer_types`. */
  layerType?(layer: number, config: Source): string;
  /** Layers without RoPE, where config.json has no `no_rope_layers`. */
  withoutRope?(layer: number, config: Source, type: string | undefined): boolean;
  /** An empty `no_rope_layers` counts as none; else it is refused, as there. */
  readonly emptyIsDefault?: boolean;
  /** Layers without RoPE sharpen their scores with position unless config.json says otherwise. */
  readonly llama4Temperature?: boolean;
}

/** Every n-th layer attends fully, counting from 1. */
const everyNth = (n: number, layer: number) => ((layer + 1) % n ? 'sliding_attention' : 'full_attention');

const fullEvery =
  (byDefault: number) =>
  (layer: number, config: Source): string =>
    everyNth(config.number('sliding_window_pattern', '_sliding_window_pattern') ?? byDefault, layer);

/** The same, counting from 0. */
const modernBertType = (layer: number, config: Source) =>
  layer % (config.number('global_attn_every_n_layers') ?? 3) ? 'sliding_attention' : 'full_attention';

const everyFourthWithout = (layer: number, config: Source) =>
  (layer + 1) % (config.number('no_rope_layer_interval') ?? 4) === 0;

const fullWithout = (_layer: number, _config: Source, type: string | undefined) => type === 'full_attention';

const interleaved = { pairing: 'interleaved' } as const;
const deepseek = { pairing: 'deepseek' } as const;
const gemma3: Family = { base: 1e6, localBase: 1e4, scalesFullOnly: true, layerType: fullEvery(6) };
const modernBert: Family = { base: 160000, localBase: 1e4, layerType: modernBertType };
const llama4: Family = {
  ...interleaved,
  base: 500000,
  withoutRope: everyFourthWithout,
  emptyIsDefault: true,
  llama4Temperature: true,
};

/** Families that have RoPE even when config.json holds no word of it, and what is particular to them. */
export const families: Readonly<Record<string, Family>> = {
  codegen: { ...interleaved, rotaryDim: 64 },
  cohere: { ...interleaved, base: 500000 },
  cohere2: { ...interleaved, layerType: fullEvery(4), withoutRope: fullWithout },
  deepseek_v2: interleaved,
  deepseek_v3: deepseek,
  ernie4_5: { ...interleaved, base: 500000 },
  ernie4_5_moe: { ...interleaved, base: 500000 },
  exaone4: {
    layerType: (layer, config) => (config.has('sliding_window') ? fullEvery(4)(layer, config) : 'full_attention'),
    withoutRope: (_, config, type) => config.has('sliding_window') && type === 'full_attention',
  },
  falcon: {},
  gemma: {},
  gemma2: {},
  gemma3: gemma3,
  gemma3_text: gemma3,
  gemma3n_text: { ...gemma3, layerType: fullEvery(5) },
  glm: { ...interleaved, partialRotaryFactor: 0.5 },
  glm4: { ...interleaved, partialRotaryFactor: 0.5 },
  glm4_moe: { partialRotaryFactor: 0.5 },
  glm4_moe_lite: deepseek,
  gpt_neox: { partialRotaryFactor: 0.25 },
  gpt_neox_japanese: {},
  gpt_oss: { base: 150000 },
  gptj: { ...interleaved, rotaryDim: 64 },
  helium: { ...interleaved, base: 100000 },
  llama: {},
  llama4_text: llama4,
  mistral: {},
  mistral4: deepseek,
  mixtral: { base: 1e6 },
  modernbert: modernBert,
  'modernbert-decoder': modernBert,
  moonshine: { ...interleaved, partialRotaryFactor: 0.9 },
  nemotron: { partialRotaryFactor: 0.5 },
  olmo: {},
  olmo2: {},
  olmo3: { base: 500000, localBase: 500000, scalesFullOnly: true, layerType: (layer) => everyNth(4, layer) },
  persimmon: { partialRotaryFactor: 0.5 },
  phi: { partialRotaryFactor: 0.5 },
  phi3: {},
  phimoe: { base: 1e6 },
  qwen2: {},
  qwen2_moe: {},
  qwen3: {},
  qwen3_moe: {},
  qwen3_next: { partialRotaryFactor: 0.25 },
  recurrent_gemma: { partialRotaryFactor: 0.5 },
  roformer: interleaved,
  smollm3: { base: 2e6, withoutRope: everyFourthWithout },
  stablelm: { partialRotaryFactor: 0.25 },
  starcoder2: {},
};
