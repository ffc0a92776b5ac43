/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first three, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { rope } from '@posenc/rope';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const yarn = { type: 'yarn', originalMaxPositionEmbeddings: 64 };
const longrope = {
  type: 'longrope',
  shortFactor: [1, 1.1, 1.3, 1.6],
  longFactor: [1.2, 2, 4, 7],
  originalMaxPositionEmbeddings: 40,
};

const configs = [
  {},
  { scaling: { ...longrope, factor: 8 } },
  { scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 16 } },
  { pairing: 'interleaved' },
  { partialRotaryFactor: 0.5 },
  { rotaryDim: 6 },
  { base: 500 },
  { scaling: { type: 'linear', factor: 4 } },
  { scaling: { type: 'ntk', factor: 4 } },
  { pairing: 'deepseek', partialRotaryFactor: 0.75 },
  { base: 500, roundWavelengths: true },
  { scaling: { type: 'ntk-by-parts', factor: 4, originalMaxPositionEmbeddings: 64 } },
  { scaling: { ...yarn, factor: 4 } },
  { scaling: { ...yarn, factor: 4, attentionFactor: 0.5 } },
  { scaling: { ...yarn, factor: 4, mscale: 2, mscaleAllDim: 0.5, scaleScores: true } },
  { scaling: { ...yarn, factor: 4, betaFast: 16, betaSlow: 2, truncate: false } },
  { scaling: { type: 'llama3', factor: 4, originalMaxPositionEmbeddings: 512, lowFreqFactor: 2, highFreqFactor: 8 } },
  { scaling: { ...longrope, factor: 4 } },
  { scaling: { ...longrope, attentionFactor: 0.5 } },
  { scaling: { type: 'proportional', partialRotaryFactor: 0.5 } },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 3)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(rope, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
