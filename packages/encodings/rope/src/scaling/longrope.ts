/**
 * LongRoPE: a factor per pair, found by search, from one list up to the trained length L0 and from another beyond it.
 *
 *     θ'_k = θ_k / shortFactor_k  (sequence length ≤ L0)   or   θ_k / longFactor_k
 *     attentionFactor = given, or √(1 + ln s / ln L0)      (1 for s ≤ 1), at every length
 *
 * The length is that of each token's own sequence, so a decoding session that is opened for more than L0 tokens uses the long
 * list from its first token.
 * Source: Ding et al. 2024, https://arxiv.org/abs/2402.13753; Microsoft's code and Phi-3. Hugging Face: rope_type "longrope".
 */
import { PosencError, z } from '@posenc/core';
import { attentionFactor, factor, originalMaxPositionEmbeddings } from './options.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

const list = z.array(z.number().positive()).min(1);

const options = z
  .strictObject({
    type: z.literal('longrope'),
    shortFactor: list.describe('What each pair’s frequency is divided by up to L0; one number per pair.'),
    longFactor: list.describe('The same for sequences longer than L0.'),
    originalMaxPositionEmbeddings: originalMaxPositionEmbeddings.min(2),
    factor: factor.optional().describe('s, for the attention factor only: maximal length / L0.'),
    attentionFactor,
  })
  .refine(({ factor, attentionFactor }) => factor !== undefined || attentionFactor !== undefined, {
    path: ['factor'],
    message:
      'give factor (maximal length / original length), from which the attention factor follows, or attentionFactor',
  });

type Options = z.output<typeof options>;

export const longrope = defineScaling({
  options,
  readsSeqLen: true,
  frequencies: (options, { base, rotaryDim, seqLen = 0 }) => {
    const { shortFactor, longFactor, originalMaxPositionEmbeddings: trained } = options;
    for (const [name, { length }] of Object.entries({ shortFactor, longFactor }))
      if (length !== rotaryDim / 2)
        throw new PosencError(
          `rope: ${name} of scaling "longrope" lists ${length} numbers, and ${rotaryDim / 2} pairs of channels turn ` +
            `(rotary width ${rotaryDim}): give one number per pair`,
        );
    const divisors = seqLen > trained ? longFactor : shortFactor;
    return {
      invFreq: inverseFrequencies(base, rotaryDim).map((theta, k) => theta / divisors[k]!),
      attentionFactor: longropeAttentionFactor(options),
    };
  },
  showAt: ({ originalMaxPositionEmbeddings: trained }) => [trained, trained + 1],
});

function longropeAttentionFactor({ factor = 1, attentionFactor, originalMaxPositionEmbeddings }: Options): number {
  if (attentionFactor !== undefined) return attentionFactor;
  return factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalMaxPositionEmbeddings));
}
