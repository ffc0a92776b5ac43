/**
 * Dynamic NTK: the base follows the length L of the sequence a token stands in,
 *
 *     base' = base · (s·L/L0 − (s − 1))^(r/(r−2)),   L ← max(L, L0)
 *
 * so nothing changes up to the trained length L0. At factor 1 this is the YaRN paper's "dynamic scaling" by L/L0; with
 * s > 1 it is Hugging Face's rule, which stretches more than L/L0.
 * Source: emozilla 2023 (r/LocalLLaMA); Hugging Face: rope_type "dynamic", whose L0 is max_position_embeddings.
 */
import { z } from '@posenc/core';
import { factor, ntkBase, originalMaxPositionEmbeddings } from './options.ts';
import { defineScaling } from './scaling.ts';
import { inverseFrequencies } from './spacing.ts';

export const dynamic = defineScaling({
  options: z.strictObject({ type: z.literal('dynamic'), factor, originalMaxPositionEmbeddings }),
  readsSeqLen: true,
  frequencies: ({ factor, originalMaxPositionEmbeddings: trained }, { base, rotaryDim, seqLen = trained }) => {
    const stretch = (factor * Math.max(seqLen, trained)) / trained - (factor - 1);
    return {
      invFreq: inverseFrequencies(ntkBase(base, stretch, rotaryDim, 'dynamic'), rotaryDim),
      attentionFactor: 1,
    };
  },
  showAt: ({ originalMaxPositionEmbeddings: trained }) => [1, 2, 4, 8].map((k) => k * trained),
});
