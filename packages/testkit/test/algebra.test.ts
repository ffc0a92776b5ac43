/** Nodes of the algebra obey the laws like any encoding: they are checked through `lawsForEncoding`. */
import { useBackend } from '@posenc/backend';
import { type AnyEncoding, createRegistry } from '@posenc/core';
import { lawsForEncoding } from '@posenc/testkit';
import { beforeAll, describe, it } from 'vitest';
import { loadEdited } from '../mutants/load.ts';
import { forgetting, temperature } from './small.ts';

const names = ['nope', 'sinusoidal', 'learned', 't5', 'alibi', 'rope'];
const plugins: AnyEncoding[] = [temperature, forgetting];
for (const name of names) plugins.push(await loadEdited(name));
const registry = createRegistry(plugins);

const nodes: object[] = [
  { type: 'compose', of: [{ type: 'learned', numPositions: 140 }, { type: 'rope' }] },
  { type: 'compose', of: [{ type: 'alibi' }, { type: 't5', perLayer: true }, { type: 'forgetting' }] },
  { type: 'compose', of: [{ type: 'temperature' }, { type: 'rope', partialRotaryFactor: 0.5 }] },
  { type: 'perLayer', of: [{ type: 'rope' }, { type: 'nope' }], pattern: [0, 1] },
  { type: 'perLayer', of: [{ type: 't5' }, { type: 'alibi', learnable: true }], pattern: [1, 0] },
  {
    type: 'compose',
    of: [
      { type: 'sinusoidal' },
      { type: 'perLayer', of: [{ type: 'rope', base: 100 }, { type: 'rope' }], pattern: [0, 1] },
    ],
  },
];

describe('algebra', () => {
  beforeAll(async () => {
    await useBackend('simd');
  });
  for (const node of nodes) {
    const config = registry.parse(node);
    const subject = {
      name: JSON.stringify(node),
      create: (dims: Parameters<typeof registry.create>[1]) => registry.create(config, dims),
    };
    for (const law of lawsForEncoding(subject, { length: 60 })) it(law.name, law.run);
  }
});
