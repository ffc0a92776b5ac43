/**
 * Trains a decoder and prints, as JSON, what memory it holds after some of the steps.
 *
 *     node --expose-gc --conditions=posenc-source test/programs/train.ts '{ "sizes": { … }, "marks": [1000, 10000] }'
 */
import * as tf from '@tensorflow/tfjs';
import { type SimdBackend, useSimd } from '../../src/index.ts';
import { createTraining, type TrainingSizes } from '../training.ts';

const { sizes, marks } = JSON.parse(process.argv[2]!) as { sizes: TrainingSizes; marks: number[] };
await useSimd();
const { allocator } = tf.backend() as SimdBackend;
const training = createTraining(sizes);
const seen: object[] = [];
for (let step = 1; step <= Math.max(...marks); step++) {
  const loss = await training.step();
  if (!marks.includes(step)) continue;
  globalThis.gc!();
  const { bytesInUse, bytesReserved, bytesAtPeak } = allocator;
  const { numTensors } = tf.memory();
  seen.push({ step, loss, rss: process.memoryUsage.rss(), numTensors, bytesInUse, bytesReserved, bytesAtPeak });
}
training.dispose();
console.log(JSON.stringify({ seen, left: { numTensors: tf.memory().numTensors, bytesInUse: allocator.bytesInUse } }));
