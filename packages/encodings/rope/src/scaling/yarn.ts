/**
 * YaRN: pairs that turn more than betaFast times within the trained length L0 stay, those that turn less than betaSlow times are
 * divided by s, with a ramp between; and scores are sharpened, since longer sequences flatten attention.
 *
 *     θ'_k = θ_k · (1 − ramp(k)) + θ_k/s · ramp(k)
 *     attentionFactor = given, or g(mscale)/g(mscaleAllDim) when both are, or g(1);     g(m) = 0.1 m ln s + 1 (1 for s ≤ 1)
 *
 * DeepSeek V2 and V3 and Mistral 4 multiply the scores once more, by g(mscaleAllDim)²: `scaleScores`.
 * Source: Peng et al. 2023, https://arxiv.org/abs/2309.00071, as in all code (see ramp.ts). Hugging Face: rope_type "yarn".
 */
import { z } from '@posenc/core';
import { attentionFactor, factor, originalMaxPositionEmbeddings, turns } from './options.ts';
import { turnsRamp } from './ramp.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

const mscale = z.number().min(0).optional();

const options = z
  .strictObject({
    type: z.literal('yarn'),
    factor,
    originalMaxPositionEmbeddings,
    betaFast: turns.default(32).describe('Pairs that turn more often than this within L0 stay as they are.'),
    betaSlow: turns.default(1).describe('Pairs that turn less often than this are divided by s.'),
    truncate: z.boolean().default(true).describe('Round the ramp’s two ends outwards to whole pairs (gpt-oss: false).'),
    attentionFactor,
    mscale: mscale.describe(
      'Weight of ln s in the numerator of the attention factor; only together with mscaleAllDim.',
    ),
    mscaleAllDim: mscale.describe('The same in the denominator.'),
    scaleScores: z
      .boolean()
      .default(false)
      .describe('Multiply scores by g(mscaleAllDim)² as well (DeepSeek V2 and V3, Mistral 4).'),
  })
  .refine(({ betaFast, betaSlow }) => betaFast >= betaSlow, {
    path: ['betaFast'],
    message: 'must be at least betaSlow: fast pairs are those that turn more often',
  })
  .refine(({ scaleScores, mscaleAllDim }) => !scaleScores || mscaleAllDim !== undefined, {
    path: ['scaleScores'],
    message: 'needs mscaleAllDim, which says by how much',
  });

export const yarn = defineScaling({
  options,
  readsSeqLen: false,
  frequencies: (options, context) => {
    const { factor, originalMaxPositionEmbeddings: trained, betaFast, betaSlow, truncate } = options;
    const ramp = turnsRamp(betaFast, betaSlow, context, { trained, truncate });
    return {
      invFreq: inverseFrequencies(context.base, context.rotaryDim).map(
        (theta, k) => theta * (1 - ramp(k)) + (theta / factor) * ramp(k),
      ),
      attentionFactor: yarnAttentionFactor(options),
    };
  },
  scoreFactor: ({ factor, mscaleAllDim = 0, scaleScores }) => (scaleScores ? g(factor, mscaleAllDim) ** 2 : 1),
});

function yarnAttentionFactor({ factor, attentionFactor, mscale, mscaleAllDim }: z.output<typeof options>): number {
  if (attentionFactor !== undefined) return attentionFactor;
  // 0 counts as not given, as in all code.
  return mscale && mscaleAllDim ? g(factor, mscale) / g(factor, mscaleAllDim) : g(factor, 1);
}

const g = (factor: number, mscale: number): number => (factor <= 1 ? 1 : 0.1 * mscale * Math.log(factor) + 1);
