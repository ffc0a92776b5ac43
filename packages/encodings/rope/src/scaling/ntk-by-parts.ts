/**
 * NTK by parts: fast pairs stay, slow ones are interpolated (divided by s), and those between follow the NTK-aware base.
 *
 *     θ'  = θ^ntk · (1 − b) + θ/s · b          b rises from pairs that turn betaFast times within L0 to those that turn betaSlow
 *     θ'' = θ · (1 − g) + θ' · g               g likewise for gammaFast, gammaSlow
 *
 * Defaults are the constants of the authors' code, found by experiment on LLaMA. The section of this name in the YaRN paper has
 * no NTK part: that is scaling "yarn" with attentionFactor 1.
 * Source: bloc97 2023, jquesnelle/yarn, scaled_rope/LlamaPartNTKScaledRotaryEmbedding.py.
 */
import { z } from '@posenc/core';
import { factor, ntkBase, originalMaxPositionEmbeddings, turns } from './options.ts';
import { turnsRamp } from './ramp.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const ntkByParts = defineScaling({
  options: z.strictObject({
    type: z.literal('ntk-by-parts'),
    factor,
    originalMaxPositionEmbeddings,
    betaFast: turns.default(1.25).describe('Pairs that turn more often than this within L0 follow the NTK-aware base.'),
    betaSlow: turns.default(0.75).describe('Pairs that turn less often than this are divided by s.'),
    gammaFast: turns.default(16).describe('Pairs that turn more often than this stay as they are.'),
    gammaSlow: turns.default(2).describe('Pairs that turn less often than this are not kept at all.'),
  }),
  readsSeqLen: false,
  frequencies: (options, context) => {
    const { factor, originalMaxPositionEmbeddings: trained, betaFast, betaSlow, gammaFast, gammaSlow } = options;
    const { base, rotaryDim } = context;
    const byNtk = inverseFrequencies(ntkBase(base, factor, rotaryDim, 'ntk-by-parts'), rotaryDim);
    const toLinear = turnsRamp(betaFast, betaSlow, context, { trained, truncate: true });
    const fromKept = turnsRamp(gammaFast, gammaSlow, context, { trained, truncate: true });
    return {
      invFreq: inverseFrequencies(base, rotaryDim).map((theta, k) => {
        const [b, g] = [toLinear(k), fromKept(k)];
        const scaled = byNtk[k]! * (1 - b) + (theta / factor) * b;
        return theta * (1 - g) + scaled * g;
      }),
      attentionFactor: 1,
    };
  },
});
