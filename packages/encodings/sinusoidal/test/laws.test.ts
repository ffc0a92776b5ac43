/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { sinusoidal } from '@posenc/sinusoidal';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  {},
  { base: 100 },
  { layout: 'concatenated' },
  { spacing: 'tensor2tensor' },
  { offset: 2 },
  { scale: 'rsqrtDim' },
  { learnable: true },
  { combine: 'multiply', base: 100 },
  { into: 'queriesAndKeys' },
  { into: 'queriesAndKeys', learnable: true },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(sinusoidal, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
