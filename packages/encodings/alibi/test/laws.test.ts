/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */

import { alibi } from '@posenc/alibi';
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  {},
  { learnable: true },
  { slopes: 'geometric' },
  { maxBias: 4 },
  { bidirectional: 'asymmetric' },
  { bidirectional: 'asymmetric', learnable: true },
  { bidirectional: 'halfSlope' },
  { bidirectional: 'halfSlope', learnable: true },
  { scaled: true },
  { scaled: true, learnable: true },
  { precision: 'bfloat16' },
  { precision: 'bfloat16', scaled: true },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(alibi, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });

describe('listed slopes obey the laws of their number of heads', () => {
  beforeAll(() => useBackend('simd'));
  for (const law of lawsFor(alibi, [{ slopes: [0.5, 0.1, 0.02] }], { heads: [3] })) it(law.name, law.run);
});
