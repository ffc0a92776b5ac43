/** Prints a digest of the bits of a range of kernels. */
import { createHash } from 'node:crypto';
import * as tf from '@tensorflow/tfjs';
import { useSimd } from '../../src/index.ts';
import { compute } from '../compute.ts';

await useSimd();
const hash = createHash('sha256');
// Twice: the engine compiles again what turns out to be hot.
for (let i = 0; i < 2; i++)
  tf.tidy(() => {
    for (const t of compute()) hash.update(t.dataSync() as Float32Array);
  });
console.log(hash.digest('hex'));
