/** One dict of RoPE parameters as transformers writes them (`rope_parameters`, one entry of it, or `rope_scaling`) in our words. */
import { PosencError, parseConfig, z } from '@posenc/core';
import { type RopeOptions, ropeSchema } from '../config.ts';
import { scaledFrequencies } from '../frequencies.ts';
import { aboutMultiAxis, isMultiAxis, multiAxisKeys } from '../multi-axis.ts';
import { scalings } from '../scaling/index.ts';
import { factor } from '../scaling/options.ts';
import type { Family } from './families.ts';
import type { Json, Source } from './source.ts';

const number = z.number().nullish();
const list = z.array(z.number().positive()).nullish();
const length = z.int().min(1).nullish();

/** All keys that some rope_type reads. As there, a key that this type does not read is no error; an unknown one is. */
const schema = z.strictObject({
  rope_type: z.string().nullish(),
  type: z.string().nullish(), // before transformers 4.43
  rope_theta: number,
  partial_rotary_factor: z.number().min(0).max(1).nullish(),
  factor: factor.nullish(),
  original_max_position_embeddings: length,
  attention_factor: z.number().positive().nullish(),
  beta_fast: number,
  beta_slow: number,
  truncate: z.boolean().nullish(),
  mscale: number,
  mscale_all_dim: number,
  short_factor: list,
  long_factor: list,
  short_mscale: number, // Phi-3.5-MoE
  long_mscale: number,
  low_freq_factor: number,
  high_freq_factor: number,
  alpha: number, // HunYuan
  llama_4_scaling_beta: number, // Ministral 3
  max_position_embeddings: length, // a copy of the outer one, in Ministral 3
  finetuned: z.boolean().nullish(), // a remark of YaRN's own checkpoints
});

export type Parameters = z.output<typeof schema>;
export type RopeJson = { readonly type: 'rope' } & RopeOptions;

/** Throws PosencError for multi-axis positions, unknown keys and values that mean nothing. */
export function parseParameters(json: Json, place: string): Parameters {
  for (const key of multiAxisKeys)
    if (json[key] !== undefined && json[key] !== null) throw new PosencError(`${place}: ${aboutMultiAxis(key)}`);
  for (const type of [json.rope_type, json.type])
    if (isMultiAxis(type)) throw new PosencError(`${place}: ${aboutMultiAxis(type)}`);
  if (json.attn_factor !== undefined)
    throw new PosencError(
      `${place}: "attn_factor" is read by no version of transformers, while YaRN’s own code multiplies by it: write attention_factor, which replaces the factor, or leave it out`,
    );
  const parsed = parseConfig<Parameters>(schema, json, place);
  const { rope_type: type, type: older } = parsed;
  if (type && older && canonicalType(type) !== canonicalType(older))
    throw new PosencError(
      `${place}: "rope_type" is "${type}" and "type" is "${older}", two spellings of one thing: keep the right one`,
    );
  return parsed;
}

const canonicalType = (type: string): string => ({ su: 'longrope', deepseek_yarn: 'yarn' })[type] ?? type;

/** What stands around a dict of parameters. */
export interface Surroundings {
  readonly config: Source;
  readonly family: Family;
  /** Where the parameters stand, for messages. */
  readonly place: string;
  /** From outside the dict. */
  readonly base: number | undefined;
  readonly defaultBase: number;
  readonly partialRotaryFactor: number | undefined;
  readonly headDim: number | undefined;
}

/** RoPE's options for these parameters, without defaults. Throws PosencError for what cannot be meant. */
export function ropeOf(parameters: Parameters, around: Surroundings): RopeJson {
  const { config, family, place, headDim } = around;
  const scaling = scalingOf(parameters, around);
  const agreed = agree(place, config.place);
  const base = agreed('rope_theta', parameters.rope_theta, around.base) ?? around.defaultBase;
  const options: RopeOptions = {
    base,
    ...pairingOf(config, family),
    ...widthOf(scaling?.type === 'proportional' ? undefined : parameters.partial_rotary_factor, around),
    ...(scaling && { scaling: scaling as RopeOptions['scaling'] }),
  };
  const parsed = parseConfig(ropeSchema(scalings), options, `${place}, in our words`);
  const width = config.number('qk_rope_head_dim') ?? headDim;
  if (width !== undefined) scaledFrequencies(parsed, scalings, { headDim: width });
  return { type: 'rope', ...options };
}

/** The inner value, or the outer one; both must agree when both are given. */
const agree = (inner: string, outer: string) => (key: string, a?: number | null, b?: number | null) => {
  if (typeof a === 'number' && typeof b === 'number' && a !== b)
    throw new PosencError(
      `${outer}: ${key} is ${b}, and ${a} in ${inner.slice(outer.length + 2) || 'it'}: keep the right one`,
    );
  return a ?? b ?? undefined;
};

function pairingOf(config: Source, { pairing = 'half' }: Family): Pick<RopeOptions, 'pairing'> {
  const { rope_interleave: interleave } = config.json;
  const chosen = interleave === true ? 'deepseek' : interleave === false ? 'half' : pairing;
  return chosen === 'half' ? {} : { pairing: chosen };
}

function widthOf(
  inside: number | null | undefined,
  around: Surroundings,
): Pick<RopeOptions, 'rotaryDim' | 'partialRotaryFactor'> {
  const { config, family, place, partialRotaryFactor, headDim } = around;
  const own = config.number('qk_rope_head_dim'); // DeepSeek: a part of the head of its own, which turns as a whole
  if (own !== undefined) return { rotaryDim: own };
  const part = agree(place, config.place)('partial_rotary_factor', inside, partialRotaryFactor);
  const told = config.number('rotary_dim');
  if (told !== undefined && part !== undefined && headDim !== undefined && Math.floor(part * headDim) !== told)
    throw new PosencError(
      `${config.place}: "rotary_dim" is ${told}, and ${part} of ${headDim} channels are ${Math.floor(part * headDim)}, two spellings of one thing: keep the right one`,
    );
  const rotaryDim = told ?? (part === undefined ? family.rotaryDim : undefined);
  if (rotaryDim !== undefined) return { rotaryDim };
  const factor = part ?? family.partialRotaryFactor ?? 1;
  return factor === 1 ? {} : { partialRotaryFactor: factor };
}

type ScalingJson = { readonly type: string } & Readonly<Record<string, unknown>>;

function scalingOf(p: Parameters, around: Surroundings): ScalingJson | undefined {
  const { config, place } = around;
  const named = canonicalType(p.rope_type ?? p.type ?? 'default');
  // Early Phi-3 files call it "yarn".
  const type = named === 'yarn' && p.short_factor && p.long_factor ? 'longrope' : named;
  const needs = <T>(key: keyof Parameters, value: T | null | undefined): T => {
    if (value === null || value === undefined)
      throw new PosencError(`${place}: "${key}" is missing, and rope_type "${type}" needs it`);
    return value;
  };
  const original = () =>
    needs(
      'original_max_position_embeddings',
      agree(place, config.place)(
        'original_max_position_embeddings',
        p.original_max_position_embeddings,
        config.number('original_max_position_embeddings'),
      ),
    );
  const longest = () => {
    const found = config.number('max_position_embeddings', 'n_positions');
    if (found === undefined)
      throw new PosencError(`${config.place}: "max_position_embeddings" is missing, and rope_type "${type}" needs it`);
    return found;
  };
  const stretch = () => p.factor ?? longest() / original();
  switch (type) {
    case 'default':
      return undefined;
    case 'linear':
      return { type, factor: needs('factor', p.factor) };
    case 'dynamic':
      // HunYuan’s alpha changes the base once and for all, whatever the length.
      if (p.alpha) return { type: 'ntk', factor: p.alpha };
      return { type, factor: needs('factor', p.factor), originalMaxPositionEmbeddings: longest() };
    case 'yarn':
      return given({
        type,
        factor: stretch(),
        originalMaxPositionEmbeddings: original(),
        betaFast: p.beta_fast,
        betaSlow: p.beta_slow,
        truncate: p.truncate,
        attentionFactor: p.attention_factor,
        mscale: p.mscale,
        mscaleAllDim: p.mscale_all_dim,
        // Where queries and keys have a rotary part of their own, transformers scales scores as DeepSeek does.
        scaleScores: config.has('qk_rope_head_dim') && p.mscale_all_dim ? true : undefined,
      });
    case 'longrope': {
      if (p.short_mscale !== p.long_mscale)
        throw new PosencError(
          `${place}: short_mscale and long_mscale differ (${p.short_mscale}, ${p.long_mscale}), and "longrope" here has one attention factor for all lengths`,
        );
      const attentionFactor = p.attention_factor ?? p.long_mscale;
      return given({
        type,
        shortFactor: needs('short_factor', p.short_factor),
        longFactor: needs('long_factor', p.long_factor),
        originalMaxPositionEmbeddings: original(),
        factor: attentionFactor === null || attentionFactor === undefined ? stretch() : p.factor,
        attentionFactor,
      });
    }
    case 'llama3':
      return {
        type,
        factor: needs('factor', p.factor),
        originalMaxPositionEmbeddings: original(),
        lowFreqFactor: needs('low_freq_factor', p.low_freq_factor),
        highFreqFactor: needs('high_freq_factor', p.high_freq_factor),
      };
    case 'proportional':
      return given({ type, partialRotaryFactor: p.partial_rotary_factor ?? 1, factor: p.factor });
    default:
      throw new PosencError(
        `${place}: rope_type "${type}" is not known; known are default, linear, dynamic, yarn, longrope, llama3, proportional`,
      );
  }
}

const given = (options: ScalingJson): ScalingJson =>
  Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== null && value !== undefined),
  ) as ScalingJson;
