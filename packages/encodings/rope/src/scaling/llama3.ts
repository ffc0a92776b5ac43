/**
 * Llama 3.1: pairs whose wavelength λ fits highFreqFactor times or more into the trained length L0 stay, those that fit
 * lowFreqFactor times or less are divided by s, and between the two
 *
 *     θ' = (1 − t) θ/s + t θ,     t = (L0/λ − lowFreqFactor) / (highFreqFactor − lowFreqFactor)
 *
 * Source: Llama Team 2024, https://arxiv.org/abs/2407.21783, and Meta's code. Hugging Face: rope_type "llama3".
 */
import { z } from '@posenc/core';
import { factor, originalMaxPositionEmbeddings, turns } from './options.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const llama3 = defineScaling({
  options: z
    .strictObject({
      type: z.literal('llama3'),
      factor,
      originalMaxPositionEmbeddings,
      lowFreqFactor: turns.default(1).describe('Pairs that turn less often than this within L0 are divided by s.'),
      highFreqFactor: turns.default(4).describe('Pairs that turn more often than this stay as they are.'),
    })
    .refine(({ lowFreqFactor, highFreqFactor }) => highFreqFactor > lowFreqFactor, {
      path: ['highFreqFactor'],
      message: 'must be above lowFreqFactor: frequencies are blended between the two',
    }),
  readsSeqLen: false,
  frequencies: (options, { base, rotaryDim }) => {
    const { factor, originalMaxPositionEmbeddings: trained, lowFreqFactor: low, highFreqFactor: high } = options;
    return {
      invFreq: inverseFrequencies(base, rotaryDim).map((theta) => {
        const kept = ((trained * theta) / (2 * Math.PI) - low) / (high - low);
        const t = Math.min(Math.max(kept, 0), 1);
        return (1 - t) * (theta / factor) + t * theta;
      }),
      attentionFactor: 1,
    };
  },
});
