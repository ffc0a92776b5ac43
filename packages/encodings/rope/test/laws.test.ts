/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on wasm, which is faster. */
import { useBackend } from '@posenc/backend';
import { rope } from '@posenc/rope';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  {},
  { scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 16 } },
  { pairing: 'interleaved' },
  { partialRotaryFactor: 0.5 },
  { rotaryDim: 6 },
  { base: 500 },
  { scaling: { type: 'linear', factor: 4 } },
  { scaling: { type: 'ntk', factor: 4 } },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['wasm', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(rope, some, { backends: ['cpu', 'wasm'] })) it(law.name, law.run);
  });
