/** Backends × laws: every encoding's laws, in full length, on each backend that runs everywhere. */
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';
import { loadEdited } from '../mutants/load.ts';
import { nearAndFar, ratio, temperature } from './small.ts';

const dynamic = { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 16 };
const configs: Record<string, object[]> = {
  nope: [{}],
  sinusoidal: [{}, { base: 100, layout: 'concatenated', spacing: 'tensor2tensor', offset: 2 }],
  learned: [{ numPositions: 140 }, { numPositions: 140, offset: 2, extend: 'interpolate', factor: 2 }],
  t5: [{}, { perLayer: true }],
  alibi: [{}, { learnable: true }],
  rope: [
    {},
    { pairing: 'interleaved', partialRotaryFactor: 0.5, scaling: { type: 'ntk', factor: 4 } },
    { scaling: dynamic },
  ],
};
const plugins = await Promise.all(Object.keys(configs).map((name) => loadEdited(name)));

const backends = ['cpu', 'simd', 'wasm'] as const;

for (const backend of backends)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    const options = { backends, length: 200, shortLength: 48, seed: 2 } as const;
    for (const plugin of [...plugins, temperature, ratio, nearAndFar])
      for (const law of lawsFor(plugin, configs[plugin.type] ?? [{}], options)) it(law.name, law.run);
  });
