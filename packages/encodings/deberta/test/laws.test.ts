/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { deberta } from '@posenc/deberta';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  { positionBuckets: 16, maxRelativePositions: 64 },
  { positionBuckets: null, maxRelativePositions: 24, shareAttKey: false },
  // Without p2c the bias of the norm is one number per row, which softmax cancels: no norm.
  { posAttType: ['c2p'], positionBuckets: 16, maxRelativePositions: 100, normRelEbd: false },
  { posAttType: ['p2c'], positionBuckets: 16, maxRelativePositions: 64, normEps: 0.1 },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(deberta, some, { length: 80, backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
