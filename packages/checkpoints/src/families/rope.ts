/**
 * RoPE as config.json tells it: `rope_parameters` (transformers 5), or `rope_theta`, `rope_scaling` and
 * `partial_rotary_factor` (transformers 4, and most published checkpoints). The latter are written: both versions read them.
 */
import { PosencError, z } from '@posenc/core';
import type { EncodingJson } from './family.ts';
import {
  lengthKeys,
  type RopeParameters,
  ropeParameters,
  type Scaling,
  scalingName,
  scalings,
} from './rope-scalings.ts';

/** Keys of config.json that say how queries and keys are rotated. */
export const ropeKeys = {
  ...lengthKeys,
  rope_parameters: ropeParameters.nullish(),
  rope_theta: z.number().nullish(),
  rope_scaling: ropeParameters.nullish(),
  partial_rotary_factor: z.number().nullish(),
};

export type RopeKeys = z.output<z.ZodObject<typeof ropeKeys>>;

/** What a family adds to what config.json says. */
export interface RopeRules {
  readonly pairing?: 'interleaved';
  /** Where config.json gives none: 10000, but 500000 in Cohere. */
  readonly base?: number;
  /** Part of each head that turns where config.json does not say: 1, but .25 in GPT-NeoX. */
  readonly partialRotaryFactor?: number;
}

/** Throws PosencError for a scaling that is not known. */
export function readRope(
  keys: RopeKeys,
  { pairing, base = 10000, partialRotaryFactor = 1 }: RopeRules = {},
): EncodingJson {
  const inside: RopeParameters = keys.rope_parameters ?? keys.rope_scaling ?? {};
  const type = scalingName(inside);
  const known = Object.hasOwn(scalings, type) ? scalings[type] : undefined;
  if (!known)
    throw new PosencError(
      `config.json: rope_type "${type}" cannot be loaded; those that can: ${Object.keys(scalings).join(', ')}`,
    );
  const scaling = known.read(inside, keys);
  const part = inside.partial_rotary_factor ?? keys.partial_rotary_factor ?? partialRotaryFactor;
  return {
    type: 'rope',
    base: inside.rope_theta ?? keys.rope_theta ?? base,
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
    rope_scaling: inside,
    partial_rotary_factor: partialRotaryFactor,
    ...beside,
  };
}
