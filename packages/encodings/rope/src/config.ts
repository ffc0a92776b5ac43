/** RoPE's options, and the rotary width that follows from them. */
import { PosencError, z } from '@posenc/core';
import { aboutMultiAxis, isMultiAxis } from './multi-axis.ts';
import type { scalings } from './scaling/index.ts';
import type { RopeScaling } from './scaling/scaling.ts';

type BuiltIn = (typeof scalings)[number];

/** Options of any built-in scaling, or of one of `Extra`. */
export type ScalingConfig<Extra extends RopeScaling = never> = z.output<(BuiltIn | Extra)['options']>;
type ScalingOptions<Extra extends RopeScaling> = z.input<(BuiltIn | Extra)['options']>;

/** The schema of RoPE's config with these scalings to choose from. */
export function ropeSchema<Extra extends RopeScaling = never>(choices: readonly RopeScaling[]) {
  const options = choices.map((scaling) => scaling.options) as [RopeScaling['options'], ...RopeScaling['options'][]];
  const known = options.map(({ shape }) => `"${shape.type.value}"`).join(', ');
  const scaling = z
    .discriminatedUnion('type', options, {
      error: ({ code, input }) => {
        if (code !== 'invalid_union') return undefined;
        const { type } = input as { type?: unknown };
        return isMultiAxis(type) ? aboutMultiAxis(type) : `no such scaling; known: ${known}`;
      },
    })
    .default({ type: 'default' })
    .describe('How frequencies change for sequences longer than in training.');
  return z
    .strictObject({
      base: z
        .number()
        .min(1, 'must be at least 1, so that no pair turns faster than one radian per position')
        .default(10000)
        .describe('θ, ratio that spaces the frequencies (no unit); larger turns slower. Llama 3: 500000.'),
      pairing: z
        .enum(['half', 'interleaved', 'deepseek'])
        .default('half')
        .describe(
          'Which channels turn together: (k, k + r/2) as in Llama on Hugging Face, (2k, 2k + 1) as in the paper, or the latter, returned as halves (DeepSeek V3).',
        ),
      partialRotaryFactor: z
        .number()
        .gt(0)
        .max(1)
        .optional()
        .describe(
          'Fraction of each head’s channels that turn (the first ones), rounded down; default 1. Instead of rotaryDim.',
        ),
      rotaryDim: z
        .int()
        .min(2)
        .optional()
        .describe('r: how many of each head’s channels turn (the first ones); even. Instead of partialRotaryFactor.'),
      roundWavelengths: z
        .boolean()
        .default(false)
        .describe('Resonance RoPE: wavelengths, after any scaling, are rounded to whole positions.'),
      scaling: scaling as unknown as z.ZodDefault<z.ZodType<ScalingConfig<Extra>, ScalingOptions<Extra>>>,
    })
    .refine(({ partialRotaryFactor, rotaryDim }) => partialRotaryFactor === undefined || rotaryDim === undefined, {
      path: ['rotaryDim'],
      message: 'partialRotaryFactor is given too, and both say how many channels turn: give one of them',
    });
}

/** The options, defaults filled in; `Extra` are scalings beyond those of this package. */
export type RopeConfig<Extra extends RopeScaling = never> = z.output<ReturnType<typeof ropeSchema<Extra>>>;
/** The same as a user writes them. */
export type RopeOptions<Extra extends RopeScaling = never> = z.input<ReturnType<typeof ropeSchema<Extra>>>;

/**
 * r, the number of channels that turn: rotaryDim, or ⌊headDim · partialRotaryFactor⌋.
 * Throws PosencError when it is odd, zero or wider than the head.
 */
export function rotaryWidth(config: Pick<RopeConfig, 'partialRotaryFactor' | 'rotaryDim'>, headDim: number): number {
  const { partialRotaryFactor = 1, rotaryDim } = config;
  const width = rotaryDim ?? Math.floor(headDim * partialRotaryFactor);
  const whence =
    rotaryDim === undefined ? `⌊headDim ${headDim} · partialRotaryFactor ${partialRotaryFactor}⌋` : 'rotaryDim';
  if (width > headDim)
    throw new PosencError(`rope: ${whence} is ${width}, more than the head has channels: headDim is ${headDim}`);
  if (width < 2 || width % 2 !== 0)
    throw new PosencError(
      `rope: the rotary width ${whence} is ${width}, but channels turn in pairs: it must be even and at least 2. ` +
        `Set rotaryDim to an even number up to ${headDim - (headDim % 2)}`,
    );
  return width;
}
