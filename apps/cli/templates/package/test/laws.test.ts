/** The laws of @posenc/testkit, with every option in at least one config. On cpu, which is slow, for the defaults alone. */
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';
import { myEncoding } from '../src/index.ts';

// Give an option that you add a config of its own.
const configs = [{}, { unit: 4 }];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 1)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    const laws = lawsFor(myEncoding, some, { backends: ['cpu', 'simd'] });
    for (const law of laws) it(law.name, law.run);
  });
