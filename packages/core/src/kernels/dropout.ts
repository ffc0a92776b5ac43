/** Inverted dropout whose mask comes from our own seeded stream, so that a resumed run draws the same one. */

import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { sizeOf } from '../params.ts';
import type { Random } from '../random.ts';

/** Zeroes entries with probability `rate` and divides the rest by 1 − rate. No stream or rate 0: the identity. */
export function dropout<T extends Tensor>(x: T, rate: number, random: Random | undefined): T {
  if (!random || rate === 0) return x;
  const threshold = rate * 2 ** 32 - 2 ** 31; // random.next() is uniform over the signed 32-bit integers
  const keep = Float32Array.from({ length: sizeOf(x.shape) }, () => (random.next() >= threshold ? 1 / (1 - rate) : 0));
  return tf.mul(x, tf.tensor(keep, x.shape)) as T;
}
