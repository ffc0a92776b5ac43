/** The scalings of RoPE: what `rope_scaling` (or `rope_parameters`) says of each, in our words and back. */
import { z } from '@posenc/core';
import { optionalSize } from './options.ts';

const optional = z.number().nullish();
const list = z.array(z.number()).nullish();

export const ropeParameters = z.looseObject({
  rope_type: z.string().nullish(),
  /** Before transformers 4.43, and what every later version reads too. */
  type: z.string().nullish(),
  rope_theta: optional,
  partial_rotary_factor: optional,
  factor: optional,
  original_max_position_embeddings: optionalSize,
  attention_factor: optional,
  beta_fast: optional,
  beta_slow: optional,
  mscale: optional,
  mscale_all_dim: optional,
  truncate: z.boolean().nullish(),
  low_freq_factor: optional,
  high_freq_factor: optional,
  short_factor: list,
  long_factor: list,
});

/** Keys beside them that matter to some. */
export const lengthKeys = {
  max_position_embeddings: optionalSize,
  original_max_position_embeddings: optionalSize,
};

export type RopeParameters = z.output<typeof ropeParameters>;
export type Lengths = z.output<z.ZodObject<typeof lengthKeys>>;

/** A scaling in our config. */
export interface Scaling {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface ScalingMapping {
  read(parameters: RopeParameters, lengths: Lengths): Scaling | undefined;
  /** `rope_scaling`, and keys beside it. */
  write(scaling: Scaling): { readonly inside: object | null; readonly beside?: object };
}

/** L0: beside the parameters (Phi 3), among them, or what the model can do now. */
const trained = (p: RopeParameters, lengths: Lengths) =>
  lengths.original_max_position_embeddings ?? p.original_max_position_embeddings ?? lengths.max_position_embeddings;

/** s, where only the lengths say it. */
const stretch = (p: RopeParameters, lengths: Lengths) =>
  p.factor ?? (lengths.max_position_embeddings ?? Number.NaN) / (trained(p, lengths) ?? Number.NaN);

/** Without what is not said, so that defaults apply. */
const said = (scaling: Scaling): Scaling =>
  Object.fromEntries(Object.entries(scaling).filter(([, value]) => value !== undefined && value !== null)) as Scaling &
    object;

/** Both spellings: no version of transformers and no family of it fails to read one of them. */
const typed = (type: string) => ({ rope_type: type, type });

/** By `rope_type`. A further one is one entry. */
export const scalings: Readonly<Record<string, ScalingMapping>> = {
  default: { read: () => undefined, write: () => ({ inside: null }) },
  linear: {
    read: ({ factor }) => said({ type: 'linear', factor }),
    write: ({ factor }) => ({ inside: { ...typed('linear'), factor } }),
  },
  dynamic: {
    read: ({ factor }, lengths) =>
      said({ type: 'dynamic', factor, originalMaxPositionEmbeddings: lengths.max_position_embeddings }),
    write: ({ factor, originalMaxPositionEmbeddings }) => ({
      inside: { ...typed('dynamic'), factor },
      beside: { max_position_embeddings: originalMaxPositionEmbeddings },
    }),
  },
  yarn: {
    read: (p, lengths) =>
      said({
        type: 'yarn',
        factor: stretch(p, lengths),
        originalMaxPositionEmbeddings: trained(p, lengths),
        betaFast: p.beta_fast || undefined,
        betaSlow: p.beta_slow || undefined,
        truncate: p.truncate,
        attentionFactor: p.attention_factor,
        mscale: p.mscale,
        mscaleAllDim: p.mscale_all_dim,
      }),
    write: (scaling) => ({
      inside: {
        ...typed('yarn'),
        factor: scaling.factor,
        original_max_position_embeddings: scaling.originalMaxPositionEmbeddings,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        truncate: scaling.truncate,
        attention_factor: scaling.attentionFactor,
        mscale: scaling.mscale,
        mscale_all_dim: scaling.mscaleAllDim,
      },
      beside: { original_max_position_embeddings: undefined },
    }),
  },
  llama3: {
    read: (p, lengths) =>
      said({
        type: 'llama3',
        factor: p.factor,
        originalMaxPositionEmbeddings: trained(p, lengths),
        lowFreqFactor: p.low_freq_factor,
        highFreqFactor: p.high_freq_factor,
      }),
    write: (scaling) => ({
      inside: {
        ...typed('llama3'),
        factor: scaling.factor,
        original_max_position_embeddings: scaling.originalMaxPositionEmbeddings,
        low_freq_factor: scaling.lowFreqFactor,
        high_freq_factor: scaling.highFreqFactor,
      },
      beside: { original_max_position_embeddings: undefined },
    }),
  },
  longrope: {
    read: (p, lengths) =>
      said({
        type: 'longrope',
        factor: stretch(p, lengths),
        originalMaxPositionEmbeddings: trained(p, lengths),
        shortFactor: p.short_factor,
        longFactor: p.long_factor,
        attentionFactor: p.attention_factor,
      }),
    // Phi 3 of transformers 4 wants nothing else inside; both versions take the factor from the lengths.
    write: (scaling) => ({
      inside: {
        type: 'longrope',
        short_factor: scaling.shortFactor,
        long_factor: scaling.longFactor,
        attention_factor: scaling.attentionFactor,
      },
      beside: {
        original_max_position_embeddings: scaling.originalMaxPositionEmbeddings,
        max_position_embeddings: Number(scaling.originalMaxPositionEmbeddings) * Number(scaling.factor ?? 1),
      },
    }),
  },
};

/** What parameters call their scaling, by today's name. Early Phi 3 files say "su", or "yarn" with LongRoPE's lists. */
export function scalingName(p: RopeParameters): string {
  const name = p.rope_type ?? p.type ?? 'default';
  return name === 'su' || (name === 'yarn' && p.short_factor && p.long_factor) ? 'longrope' : name;
}
