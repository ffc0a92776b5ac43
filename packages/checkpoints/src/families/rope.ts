/**
 * RoPE as config.json tells it: `rope_parameters` (transformers 5), or `rope_theta`, `rope_scaling` and
 * `partial_rotary_factor` (transformers 4, and most published checkpoints). The latter are written: both versions read them.
 */
import { PosencError, z } from '@posenc/core';
import type { EncodingJson } from './family.ts';
import { optionalSize } from './options.ts';

const optional = z.number().nullish();

export const ropeParameters = z.looseObject({
  rope_type: z.string().nullish(),
  /** Before transformers 4.43. */
  type: z.string().nullish(),
  rope_theta: optional,
  partial_rotary_factor: optional,
  factor: optional,
  original_max_position_embeddings: optionalSize,
});

/** Keys of config.json that say how queries and keys are rotated. */
export const ropeKeys = {
  max_position_embeddings: optionalSize,
  rope_parameters: ropeParameters.nullish(),
  rope_theta: optional,
  rope_scaling: ropeParameters.nullish(),
  partial_rotary_factor: optional,
};

type Parameters = z.output<typeof ropeParameters>;
export type RopeKeys = z.output<z.ZodObject<typeof ropeKeys>>;

interface Scaling {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface ScalingMapping {
  read(parameters: Parameters, keys: RopeKeys): Scaling | undefined;
  /** What `rope_scaling` holds besides its type, and keys beside it. */
  write(scaling: Scaling): { readonly inside: object | null; readonly beside?: object };
}

/** By `rope_type`. A further one is one entry. */
const scalings: Readonly<Record<string, ScalingMapping>> = {
  default: { read: () => undefined, write: () => ({ inside: null }) },
  linear: {
    read: ({ factor }) => ({ type: 'linear', factor }),
    write: ({ factor }) => ({ inside: { factor } }),
  },
  dynamic: {
    read: ({ factor }, keys) => ({
      type: 'dynamic',
      factor,
      originalMaxPositionEmbeddings: keys.max_position_embeddings,
    }),
    write: ({ factor, originalMaxPositionEmbeddings }) => ({
      inside: { factor },
      beside: { max_position_embeddings: originalMaxPositionEmbeddings },
    }),
  },
};

/** What a family adds to what config.json says. */
export interface RopeRules {
  readonly pairing?: 'interleaved';
  /** Part of each head that turns where config.json does not say: 1, but .25 in GPT-NeoX. */
  readonly partialRotaryFactor?: number;
}

/** Throws PosencError for a scaling that is not known. */
export function readRope(keys: RopeKeys, { pairing, partialRotaryFactor = 1 }: RopeRules = {}): EncodingJson {
  const inside: Parameters = keys.rope_parameters ?? keys.rope_scaling ?? {};
  const type = inside.rope_type ?? inside.type ?? 'default';
  const known = Object.hasOwn(scalings, type) ? scalings[type] : undefined;
  if (!known)
    throw new PosencError(
      `config.json: rope_type "${type}" cannot be loaded; those that can: ${Object.keys(scalings).join(', ')}`,
    );
  const scaling = known.read(inside, keys);
  const part = inside.partial_rotary_factor ?? keys.partial_rotary_factor ?? partialRotaryFactor;
  return {
    type: 'rope',
    base: inside.rope_theta ?? keys.rope_theta ?? 10000,
    ...(pairing && { pairing }),
    ...(part !== 1 && { partialRotaryFactor: part }),
    ...(scaling && { scaling }),
  };
}

/** Throws PosencError for a scaling that config.json has no words for. */
export function writeRope(encoding: EncodingJson): Record<string, unknown> {
  const {
    base,
    partialRotaryFactor,
    scaling = { type: 'default' },
  } = encoding as EncodingJson & {
    scaling?: Scaling;
  };
  const known = Object.hasOwn(scalings, scaling.type) ? scalings[scaling.type] : undefined;
  if (!known)
    throw new PosencError(
      `config.json has no word for the rope scaling "${scaling.type}"; it has for: ${Object.keys(scalings).join(', ')}`,
    );
  const { inside, beside } = known.write(scaling);
  return {
    rope_parameters: undefined, // of the config that was read, if any: the keys below replace it
    rope_theta: base,
    rope_scaling: inside && { rope_type: scaling.type, type: scaling.type, ...inside },
    partial_rotary_factor: partialRotaryFactor,
    ...beside,
  };
}
