/** Says which of three calls replace the backend: asking for wide registers, asking again, asking for none. */
import * as tf from '@tensorflow/tfjs';
import { useSimd } from '../../src/index.ts';

const backends: tf.KernelBackend[] = [];
for (const wide of [false, true, true, false]) {
  await useSimd({ threads: 1, wide });
  backends.push(tf.backend());
}
const [narrow, wide, again, back] = backends;
console.log(JSON.stringify({ replaced: wide !== narrow, kept: again === wide, replacedBack: back !== again }));
