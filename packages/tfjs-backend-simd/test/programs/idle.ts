/** Computes on three threads, then sleeps; prints the processor time spent asleep, in ms, and ends without being told to. */
import * as tf from '@tensorflow/tfjs-core';
import { useSimd } from '../../src/index.ts';

await useSimd({ threads: 3 });
const a = tf.ones([500, 500]);
for (let i = 0; i < 20; i++) tf.dispose(tf.matMul(a, a));
// The workers are up by now, and have looked for more work.
await new Promise((resolve) => setTimeout(resolve, 500));
const before = process.cpuUsage();
await new Promise((resolve) => setTimeout(resolve, 1000));
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1000);
