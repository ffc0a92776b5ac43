/** The arithmetic of one AdamW step over all parameters as one vector. */

import type { Scalar, Tensor1D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { hasKernel, runKernel } from './fused.ts';

/** Parameters and moments as one flat vector each. */
export interface AdamWState {
  /** Parameters, moments, all [n]. */
  readonly theta: Tensor1D;
  readonly m: Tensor1D;
  readonly v: Tensor1D;
}

/** The numbers of one update. */
export interface AdamWStep {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly learningRate: number;
  /** t, counted from 1. */
  readonly step: number;
}

/**
 * With g = clip·gradient (Loshchilov & Hutter 2019, 1711.05101):
 *
 *     m ← β₁m + (1 − β₁)g      v ← β₂v + (1 − β₂)g²
 *     θ ← θ − lr · ( m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε) + decay·θ )
 */
export function adamwStep(
  { theta, m, v }: AdamWState,
  { gradient, decay, clip }: { readonly gradient: Tensor1D; readonly decay: Tensor1D; readonly clip: Scalar },
  options: AdamWStep,
): AdamWState {
  if (hasKernel('AdamW')) {
    const next = runKernel('AdamW', { theta, m, v, gradient, decay, clip }, { ...options }) as Tensor1D[];
    return { theta: next[0]!, m: next[1]!, v: next[2]! };
  }
  const { beta1, beta2, epsilon, learningRate, step } = options;
  const g = tf.mul(gradient, clip);
  const nextM = tf.add(tf.mul(m, beta1), tf.mul(g, 1 - beta1)) as Tensor1D;
  const nextV = tf.add(tf.mul(v, beta2), tf.mul(tf.square(g), 1 - beta2)) as Tensor1D;
  const direction = tf.div(
    tf.mul(nextM, 1 / (1 - beta1 ** step)),
    tf.add(tf.sqrt(tf.mul(nextV, 1 / (1 - beta2 ** step))), epsilon),
  );
  const change = tf.mul(tf.add(direction, tf.mul(theta, decay)), learningRate);
  return { theta: tf.sub(theta, change) as Tensor1D, m: nextM, v: nextV };
}
