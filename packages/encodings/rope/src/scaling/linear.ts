/**
 * Position interpolation: θ_k / s, which is the same as using positions p/s. The model needs some fine-tuning at s > 1.
 * Source: Chen et al. 2023, https://arxiv.org/abs/2306.15595. Hugging Face: rope_type "linear".
 */
import { z } from '@posenc/core';
import { factor } from './options.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const linear = defineScaling({
  options: z.strictObject({ type: z.literal('linear'), factor }),
  readsSeqLen: false,
  frequencies: ({ factor }, { base, rotaryDim }) => ({
    invFreq: inverseFrequencies(base, rotaryDim).map((theta) => theta / factor),
    attentionFactor: 1,
  }),
});
