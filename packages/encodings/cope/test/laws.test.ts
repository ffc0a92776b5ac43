/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { cope } from '@posenc/cope';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [{}, { numPositions: 4 }];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 1)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(cope, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
