/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { useBackend } from '@posenc/backend';
import { learned } from '@posenc/learned';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  { numPositions: 140 },
  { numPositions: 140, offset: 2 },
  { numPositions: 140, initStd: 0.5 },
  { numPositions: 140, extend: 'untrained', factor: 2 },
  { numPositions: 140, extend: 'interpolate', factor: 2 },
  { numPositions: 140, combine: 'multiply' },
  { numPositions: 140, combine: 'multiply', extend: 'untrained', factor: 2 },
  { numPositions: 140, into: 'queriesAndKeys' },
  { numPositions: 140, into: 'queriesAndKeys', combine: 'multiply' },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(learned, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });
