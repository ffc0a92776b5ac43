/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { fox } from '@posenc/fox';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [{}, { gate: 'bias-only' }, { gate: 'bias-only', decayTimeMin: 2, decayTimeMax: 100 }];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(fox, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
