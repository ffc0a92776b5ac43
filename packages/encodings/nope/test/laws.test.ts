/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { nope } from '@posenc/nope';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [{}];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(nope, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
