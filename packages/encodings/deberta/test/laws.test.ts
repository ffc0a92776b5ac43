import { lawsFor } from '@posenc/testkit';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, test } from 'vitest';
import { deberta } from '../src/index.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const configs = [
  { positionBuckets: 16, maxRelativePositions: 64 },
  // Without p2c the bias of the norm is one number per row, which softmax cancels: no norm.
  { posAttType: ['c2p'], positionBuckets: 16, maxRelativePositions: 100, normRelEbd: false },
  { posAttType: ['p2c'], positionBuckets: 16, maxRelativePositions: 64, normEps: 0.1 },
  { positionBuckets: null, maxRelativePositions: 24, shareAttKey: false },
];
for (const law of lawsFor(deberta, configs, { length: 80 })) test(law.name, law.run);
