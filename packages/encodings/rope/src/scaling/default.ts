/** No scaling: θ_k = base^(−2k/r). */
import { z } from '@posenc/core';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const unscaled = defineScaling({
  options: z.strictObject({ type: z.literal('default') }),
  readsSeqLen: false,
  frequencies: (_, { base, rotaryDim }) => ({ invFreq: inverseFrequencies(base, rotaryDim), attentionFactor: 1 }),
});
