/** From a Hugging Face config.json to the config of an encoding: all that `rope_parameters` and its older spellings can say. */
import { PosencError } from '@posenc/core';
import { type Family, families } from './families.ts';
import { type Layer, layersOf } from './layers.ts';
import { parseParameters, type RopeJson, ropeOf } from './parameters.ts';
import { isObject, type Json, type Source, sameJson, show, sourceOf } from './source.ts';

/** Config of @posenc/attention-temperature. */
export interface TemperatureJson {
  readonly type: 'attention-temperature';
  readonly rule:
    | { readonly type: 'llama4'; readonly floorScale: number; readonly attnScale: number }
    | { readonly type: 'ministral3'; readonly beta: number; readonly originalMaxPositionEmbeddings: number };
}

/** What a registry with rope, nope and attention-temperature parses. */
export type HuggingFaceEncoding =
  | RopeJson
  | { readonly type: 'nope' }
  | TemperatureJson
  | { readonly type: 'compose'; readonly of: readonly HuggingFaceEncoding[] }
  | {
      readonly type: 'perLayer';
      readonly of: readonly HuggingFaceEncoding[];
      readonly pattern: readonly number[];
    };

/**
 * The positions of a Hugging Face model, from its config.json, in the spelling of transformers 5 (`rope_parameters`, also by layer
 * type) or older ones (`rope_scaling`, `rope_theta`, `rotary_pct`, `partial_rotary_factor`, `rotary_dim`,
 * `rope_local_base_freq` …): `rope`, or `perLayer` where layers have other parameters or none (Gemma 3, Llama 4, SmolLM3,
 * Cohere 2). Pairing and defaults that only the model's code knows follow `model_type`; an unknown one counts as `half`.
 *
 *     fromHuggingFace({ model_type: 'llama', rope_theta: 500000, rope_scaling: { rope_type: 'linear', factor: 4 } })
 *
 * DeepSeek's part that turns (`qk_rope_head_dim`) becomes `rotaryDim`: its channels come first here.
 *
 * Throws PosencError for what has no meaning (factor below 1, lists of another length than there are pairs, a missing original
 * length), for two spellings that disagree, and for what is out of scope by name: multi-axis positions (`mrope_section`),
 * rotated values, absolute positions, ALiBi.
 */
export function fromHuggingFace(json: unknown): HuggingFaceEncoding {
  if (!isObject(json)) throw new PosencError(`config.json is ${show(json)}; expected an object`);
  const config = textPart(json);
  const type = config.has('model_type') ? String(config.json.model_type) : undefined;
  const known = type !== undefined && Object.hasOwn(families, type) ? families[type] : undefined;
  refuse(config, known, type);
  const family = known ?? {};
  return perLayer(layersOf(config, family).map((layer) => encodingOf(layer, config, family)));
}

/** Models of text and images keep their text part in one key. */
function textPart(json: Json): Source {
  const inner = json.text_config;
  const outer = ['rope_parameters', 'rope_scaling', 'rope_theta'].some((key) => json[key] !== undefined);
  return isObject(inner) && !outer ? sourceOf(inner, 'config.json, text_config') : sourceOf(json, 'config.json');
}

const ropeKeys = ['rope_parameters', 'rope_scaling', 'rope_theta', 'rotary_emb_base', 'rotary_pct', 'rotary_dim'];

function refuse(config: Source, family: Family | undefined, type: string | undefined): void {
  const { json, place } = config;
  if (json.alibi === true) throw new PosencError(`${place}: "alibi" is true, so this model has no RoPE: use "alibi"`);
  const kind = json.position_embedding_type;
  if (typeof kind === 'string' && !['rotary', 'rope'].includes(kind))
    throw new PosencError(`${place}: position_embedding_type is "${kind}", so this model has no RoPE`);
  if (json.rotary_value === true)
    throw new PosencError(`${place}: "rotary_value" is true, and values are not rotated here`);
  for (const key of ['layer_rope_theta', 'rope_scaling_layers', 'partial_rotary_factors'])
    if (config.has(key))
      throw new PosencError(`${place}: "${key}" is not supported: write the layers out with perLayer`);
  if (!family && kind === undefined && !ropeKeys.some((key) => json[key] !== undefined))
    throw new PosencError(
      `${place} says nothing of rotary positions (${ropeKeys.join(', ')}), and ${type ? `model_type "${type}" is not one` : 'there is no model_type'} that is known to have them`,
    );
}

function encodingOf(
  { parameters, place, base, defaultBase }: Layer,
  config: Source,
  family: Family,
): HuggingFaceEncoding {
  if (parameters === null) return temperatureWithoutRope(config, family) ?? { type: 'nope' };
  const parsed = parseParameters(parameters, place);
  const rope = ropeOf(parsed, {
    config,
    family,
    place,
    base,
    defaultBase,
    partialRotaryFactor: config.number('partial_rotary_factor', 'rotary_pct', 'rope_pct'),
    headDim: headDimOf(config),
  });
  const beta = parsed.llama_4_scaling_beta;
  if (!beta) return rope;
  const original = parsed.original_max_position_embeddings;
  if (!original)
    throw new PosencError(`${place}: "original_max_position_embeddings" is missing, and llama_4_scaling_beta needs it`);
  const rule = { type: 'ministral3', beta, originalMaxPositionEmbeddings: original } as const;
  return { type: 'compose', of: [rope, { type: 'attention-temperature', rule }] };
}

function temperatureWithoutRope(config: Source, family: Family): TemperatureJson | undefined {
  const tuned = config.json.attn_temperature_tuning ?? family.llama4Temperature ?? false;
  if (!tuned) return undefined;
  const [floorScale, attnScale] = [config.number('floor_scale') ?? 8192, config.number('attn_scale') ?? 0.1];
  return { type: 'attention-temperature', rule: { type: 'llama4', floorScale, attnScale } };
}

function headDimOf(config: Source): number | undefined {
  const told = config.number('head_dim');
  const [modelDim, numHeads] = [config.number('hidden_size', 'n_embd'), config.number('num_attention_heads', 'n_head')];
  return told ?? (modelDim !== undefined && numHeads !== undefined ? Math.floor(modelDim / numHeads) : undefined);
}

/** The shortest pattern that repeats to these layers; one encoding when all are alike. */
function perLayer(layers: readonly HuggingFaceEncoding[]): HuggingFaceEncoding {
  const of: HuggingFaceEncoding[] = [];
  const members = layers.map((layer) => {
    const found = of.findIndex((other) => sameJson(other, layer));
    return found >= 0 ? found : of.push(layer) - 1;
  });
  if (of.length === 1) return of[0]!;
  const period = members.findIndex((_, p) => p > 0 && members.every((member, l) => member === members[l % p]));
  return { type: 'perLayer', of, pattern: members.slice(0, period < 0 ? members.length : period) };
}
