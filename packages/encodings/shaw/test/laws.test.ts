/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { shaw } from '@posenc/shaw';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  {},
  { maxRelativePosition: 5, shareHeads: false },
  { values: false },
  { shareHeads: false, values: false },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(shaw, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
