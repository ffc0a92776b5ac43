/** The laws of @posenc/testkit, with every option in at least one config. On cpu, which is slow, for the defaults alone. */
import { test } from 'node:test';
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { myEncoding } from './my-encoding.ts';

// Give an option that you add a config of its own. Laws are plain functions: any other runner does, too.
const configs = [{}, { unit: 4 }];

for (const [backend, some] of [
  ['cpu', configs.slice(0, 1)],
  ['simd', configs],
] as const)
  test(`laws on ${backend}`, async (t) => {
    await useBackend(backend);
    const laws = lawsFor(myEncoding, some, { backends: ['cpu', 'simd'] });
    for (const law of laws) await t.test(law.name, law.run);
  });
