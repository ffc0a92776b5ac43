/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { transformerXl } from '@posenc/transformer-xl';
import { beforeAll, describe, it } from 'vitest';

const configs = [{}, { untie: true, clampLen: 12 }, { clampLen: 20 }];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(transformerXl, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
