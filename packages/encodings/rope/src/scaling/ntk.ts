/**
 * NTK-aware scaling, static: base' = base · s^(r/(r−2)). High frequencies stay, the lowest is divided by exactly s.
 * The extension that works in practice is smaller than s.
 * Source: bloc97 2023 (r/LocalLLaMA), equation in Peng et al. 2023 (YaRN), https://arxiv.org/abs/2309.00071, section 3.1.
 */
import { z } from '@posenc/core';
import { factor, ntkBase } from './options.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const ntk = defineScaling({
  options: z.strictObject({ type: z.literal('ntk'), factor }),
  readsSeqLen: false,
  frequencies: ({ factor }, { base, rotaryDim }) => ({
    invFreq: inverseFrequencies(ntkBase(base, factor, rotaryDim, 'ntk'), rotaryDim),
    attentionFactor: 1,
  }),
});
