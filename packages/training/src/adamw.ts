/** AdamW over all parameters as one vector: a dozen tensor operations a step, however many parameters there are. */

import { adamwStep, type ParamSpecs, sizeOf, type Variables } from '@posenc/core';
import type { Scalar, Tensor, Tensor1D, Variable } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** Everything but the learning rate, which a schedule decides at each step. */
export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled; applies to the parameters whose spec says `decay`. */
  readonly weightDecay: number;
  /** Largest global gradient norm; larger gradients are scaled down to it. */
  readonly clipNorm: number;
}

/** Adam with decoupled weight decay and a clipped gradient, its moments kept by parameter. */
export interface AdamW {
  /**
   * One step, g clipped by its global norm (Loshchilov & Hutter 2019, 1711.05101):
   *
   *     m ← β₁m + (1 − β₁)g      v ← β₂v + (1 − β₂)g²
   *     θ ← θ − lr · ( m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + ε) + λθ )
   *
   * @param step t, counted from 1
   * @returns the gradient's global norm before clipping
   */
  update(gradients: readonly Tensor[], learningRate: number, step: number): Scalar;
  /** The moments [number of scalars], for checkpoints. */
  readonly moments: { readonly m: Variable; readonly v: Variable };
  dispose(): void;
}

/** Parameters without a `decay` mark (norms, biases, an encoding's tables) are never decayed. */
export function createAdamW(params: Variables, specs: ParamSpecs, options: AdamWOptions): AdamW {
  const { beta1, beta2, epsilon, weightDecay, clipNorm } = options;
  const variables = Object.values(params);
  const sizes = variables.map((variable) => variable.size);
  const total = sizes.reduce((a, b) => a + b, 0);
  const m = tf.tidy(() => tf.variable(tf.zeros([total])));
  const v = tf.tidy(() => tf.variable(tf.zeros([total])));
  const decay = tf.keep(tf.tensor1d(decayVector(params, specs, weightDecay, total)));
  const flatten = (tensors: readonly Tensor[]) => tf.concat(tensors.map((t) => t.reshape([-1]) as Tensor1D));

  function update(gradients: readonly Tensor[], learningRate: number, step: number): Scalar {
    return tf.tidy(() => {
      const raw = flatten(gradients);
      const norm = tf.sqrt(tf.sum(tf.square(raw))) as Scalar;
      const clip = tf.minimum(1, tf.div(clipNorm, tf.maximum(norm, 1e-12))) as Scalar;
      const state = { theta: flatten(variables), m: m as Tensor1D, v: v as Tensor1D };
      const options = { beta1, beta2, epsilon, learningRate, step };
      const next = adamwStep(state, { gradient: raw, decay, clip }, options);
      m.assign(next.m);
      v.assign(next.v);
      tf.split(next.theta, sizes).forEach((piece, i) => {
        variables[i]!.assign(piece.reshape(variables[i]!.shape));
      });
      return norm;
    });
  }

  return { update, moments: { m, v }, dispose: () => tf.dispose([m, v, decay]) };
}

function decayVector(params: Variables, specs: ParamSpecs, weightDecay: number, total: number): Float32Array {
  const values = new Float32Array(total);
  let start = 0;
  for (const path of Object.keys(params)) {
    const size = sizeOf(specs[path]!.shape);
    if (specs[path]!.decay) values.fill(weightDecay, start, start + size);
    start += size;
  }
  return values;
}
