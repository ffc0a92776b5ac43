/**
 * KERPLE's kernels: k(0) = 0, and the further apart two tokens are, the lower. d = |i − j| in tokens; all three letters are per
 * head and positive, γ at most 2, which makes each kernel conditionally positive definite (an inner product up to a constant).
 *
 *     log     k(d) = −α · ln(1 + β·d)
 *     power   k(d) = −α · d^γ
 *     log3    k(d) = −α · ln(1 + β·d^γ)
 */
import { PosencError } from '@posenc/core';
import type { Tensor, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

export const kernels = ['log', 'power', 'log3'] as const;
/** A kernel by name. */
export type KerpleKernel = (typeof kernels)[number];

/** What each kernel is made of. */
export const letters = { log: ['alpha', 'beta'], power: ['alpha', 'gamma'], log3: ['alpha', 'beta', 'gamma'] } as const;
/** A parameter of a kernel, by the letter it has in the equation. */
export type Letter = (typeof letters)[KerpleKernel][number];

/**
 * k(d) of one head at every distance |offset| (tokens), float64. Throws PosencError when a letter the kernel needs is missing,
 * negative, or γ is above 2.
 */
export function kerpleKernel(
  kernel: KerpleKernel,
  values: Readonly<Partial<Record<Letter, number>>>,
  offsets: ArrayLike<number>,
): Float64Array {
  for (const letter of letters[kernel]) {
    const value = values[letter] ?? Number.NaN;
    if (!(value >= 0 && (letter !== 'gamma' || value <= 2)))
      throw new PosencError(
        `kerple: ${letter} is ${value}; the kernel "${kernel}" needs ${letter === 'gamma' ? 'a number from 0 to 2' : 'a number of at least 0'}`,
      );
  }
  const { alpha = 1, beta = 1, gamma = 1 } = values;
  const raised = (offset: number) => (offset === 0 ? 0 : Math.abs(offset) ** gamma);
  return Float64Array.from(offsets, (offset) =>
    kernel === 'power' ? -alpha * raised(offset) : -alpha * Math.log1p(beta * raised(offset)),
  );
}

/** The same on the device and with gradients: letters [H], already within bounds; offsets [n] → [H, n]. */
export function kernelTensor(
  kernel: KerpleKernel,
  values: Readonly<Partial<Record<Letter, Tensor>>>,
  offsets: Int32Array,
): Tensor2D {
  const column = (letter: Letter) => values[letter]!.reshape<Tensor2D>([-1, 1]);
  const row = (f: (distance: number) => number) =>
    tf.tensor2d(
      Float32Array.from(offsets, (offset) => f(Math.abs(offset))),
      [1, offsets.length],
    );
  // d^γ = e^(γ ln d) away from 0, and 0 there: its derivative d^γ ln d must be 0 at d = 0 too, and not 0 · −∞.
  const raised = () =>
    tf.mul(
      tf.exp(
        tf.mul(
          column('gamma'),
          row((d) => Math.log(d || 1)),
        ),
      ),
      row((d) => (d ? 1 : 0)),
    ) as Tensor2D;
  const distances = kernel === 'log' ? row((d) => d) : raised();
  const grown = kernel === 'power' ? distances : tf.log1p(tf.mul(column('beta'), distances));
  return tf.neg(tf.mul(column('alpha'), grown)) as Tensor2D;
}

/** |θ|: at least 0, and its slope is never 0. */
export const positive = (theta: Tensor): Tensor => tf.abs(theta);

/** θ reflected at 0 and at 2 as often as it takes: within 0 … 2, equal to θ there, and its slope is never 0. */
export const withinTwo = (theta: Tensor): Tensor =>
  tf.abs(tf.sub(theta, tf.mul(4, tf.floor(tf.add(tf.div(theta, 4), 0.5)))));
