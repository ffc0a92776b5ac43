/** From RoPE's options to the frequencies of one head. */
import { parseConfig } from '@posenc/core';
import { type RopeConfig, type RopeOptions, ropeSchema, rotaryWidth } from './config.ts';
import { scalings } from './scaling/index.ts';
import { roundWavelengths } from './scaling/resonance.ts';
import type { Frequencies, RopeScaling } from './scaling/scaling.ts';

/** The head, and the length of the sequence a token stands in (absent: no longer than in training). */
export interface HeadContext {
  readonly headDim: number;
  readonly seqLen?: number;
}

const schema = ropeSchema(scalings);

/**
 * Radians per position of each channel pair, scaled, and the attention factor, for RoPE options as they stand in a config
 * (without `type`). Throws PosencError for bad options, or when the head cannot be turned or scaled this way.
 *
 *     ropeFrequencies({ base: 500000, scaling: { type: 'linear', factor: 4 } }, { headDim: 64 })
 */
export function ropeFrequencies(options: RopeOptions, context: HeadContext): Frequencies {
  return scaledFrequencies(parseConfig<RopeConfig>(schema, options, 'rope'), scalings, context);
}

/** The same for a parsed config and any set of scalings. */
export function scaledFrequencies<Extra extends RopeScaling>(
  config: RopeConfig<Extra>,
  choices: readonly RopeScaling[],
  { headDim, seqLen }: HeadContext,
): Frequencies {
  const rotaryDim = rotaryWidth(config, headDim);
  const context = { headDim, rotaryDim, base: config.base, seqLen };
  const scaled = scalingOf(config, choices).frequencies(config.scaling, context);
  return config.roundWavelengths ? roundWavelengths(scaled) : scaled;
}

/** The scaling a parsed config names. */
export function scalingOf<Extra extends RopeScaling>(config: RopeConfig<Extra>, choices: readonly RopeScaling[]) {
  return choices.find(({ options }) => options.shape.type.value === config.scaling.type)!;
}
