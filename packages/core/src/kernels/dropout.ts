/**
 * Inverted dropout whose mask comes from our own seeded stream, so that a resumed run draws the same one, on every backend. Two
 * draws of the stream are the key of a mask; entry i is a hash of key and i, so that any part of a mask can be computed alone.
 *
 * Kernel `Dropout`: input x, attributes rate, keyLow and keyHigh. It is its own gradient, and keeps nothing for it.
 */

import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { sizeOf } from '../params.ts';
import { avalanche, type Random } from '../random.ts';
import { expectFloats } from './expect.ts';
import { ensureGradient, hasKernel, runKernel } from './fused.ts';

/** Which entries one mask drops. */
export interface DropoutMask {
  readonly rate: number;
  /** Any 32-bit integers. */
  readonly keyLow: number;
  readonly keyHigh: number;
}

/** Moves the stream on by two draws. */
export function drawMask(rate: number, random: Random): DropoutMask {
  const keyLow = random.next();
  return { rate, keyLow, keyHigh: random.next() };
}

/** Entry i is dropped when avalanche(avalanche(i + keyLow) xor keyHigh), uniform below 2³², is below rate·2³². */
const drops = ({ rate, keyLow, keyHigh }: DropoutMask, i: number): boolean =>
  avalanche(avalanche((i + keyLow) | 0) ^ keyHigh) < Math.round(rate * 2 ** 32);

/** Zeroes entries with probability `rate` and divides the rest by 1 − rate. No stream or rate 0: the identity. PosencError for another type than float32. */
export function dropout<T extends Tensor>(x: T, rate: number, random: Random | undefined): T {
  if (!random || rate === 0) return x;
  expectFloats('dropout', { x: [x] });
  const mask = drawMask(rate, random);
  return hasKernel('Dropout') ? fused(x, mask) : composed(x, mask);
}

function fused<T extends Tensor>(x: T, mask: DropoutMask): T {
  ensureGradient('Dropout', {
    inputs: [],
    outputs: [],
    backward: ([dy], _, attributes) => ({ x: runKernel('Dropout', { x: dy! }, attributes)[0]! }),
  });
  return runKernel('Dropout', { x }, { ...mask })[0] as T;
}

function composed<T extends Tensor>(x: T, mask: DropoutMask): T {
  const factors = Float32Array.from({ length: sizeOf(x.shape) }, (_, i) => (drops(mask, i) ? 0 : 1 / (1 - mask.rate)));
  return tf.mul(x, tf.tensor(factors, x.shape)) as T;
}
