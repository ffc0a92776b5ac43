/**
 * Proportional RoPE, p-RoPE: only the fastest pairs turn, the others stand still and carry content alone. Unlike partial rotation
 * (partialRotaryFactor beside `base`), frequencies are spaced by the whole width, and half pairs are (k, k + r/2): channels
 * 0 … n−1 and r/2 … r/2 + n−1 turn, not the first 2n.
 *
 *     θ'_k = θ_k / s for k < n = ⌊partialRotaryFactor · r / 2⌋,   0 beyond
 *
 * Source: Barbero et al. 2024, https://arxiv.org/abs/2410.06205; Gemma 4. Hugging Face: rope_type "proportional".
 */
import { z } from '@posenc/core';
import { factor } from './options.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const proportional = defineScaling({
  options: z.strictObject({
    type: z.literal('proportional'),
    partialRotaryFactor: z
      .number()
      .min(0)
      .max(1)
      .describe('Fraction of the pairs that turn: the fastest, rounded down.'),
    factor: factor.default(1),
  }),
  readsSeqLen: false,
  frequencies: ({ partialRotaryFactor, factor }, { base, rotaryDim }) => {
    const turning = Math.floor((partialRotaryFactor * rotaryDim) / 2);
    return {
      invFreq: inverseFrequencies(base, rotaryDim).map((theta, k) => (k < turning ? theta / factor : 0)),
      attentionFactor: 1,
    };
  },
});
