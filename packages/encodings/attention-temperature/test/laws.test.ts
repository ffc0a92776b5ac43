/** The laws of @posenc/testkit, with every option in at least one config. On cpu for the first two, for all on simd, which is faster. */
import { attentionTemperature } from '@posenc/attention-temperature';
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';

const configs = [
  {},
  { rule: { type: 'learned' } },
  { rule: { type: 'log-n', trainLength: 8 } },
  { rule: { type: 'log-n', trainLength: 8, clamped: true } },
  { rule: { type: 'log-n', trainLength: 8, window: 2000 } },
  { rule: { type: 'llama4', floorScale: 4, attnScale: 0.5 } },
  { rule: { type: 'llama4', floorScale: 8 } },
  { rule: { type: 'ministral3', originalMaxPositionEmbeddings: 4, beta: 0.5 } },
  { rule: { type: 'ministral3', originalMaxPositionEmbeddings: 8 } },
  { rule: { type: 'constant', factor: 2 } },
  { rule: { type: 'learned', init: 1.5 } },
];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 2)],
  ['simd', configs],
] as const)
  describe(`laws on ${backend}`, () => {
    beforeAll(() => useBackend(backend));
    for (const law of lawsFor(attentionTemperature, some, { backends: ['cpu', 'simd'] })) it(law.name, law.run);
  });

describe('listed factors obey the laws of their number of layers and heads', () => {
  beforeAll(() => useBackend('cpu'));
  const factors = [
    [0.5, 1, 2],
    [3, 1.5, 0],
  ];
  const listed = [{ rule: { type: 'constant', factor: factors } }, { rule: { type: 'learned', init: factors } }];
  for (const law of lawsFor(attentionTemperature, listed, { heads: [3] })) it(law.name, law.run);
});
