/**
 * Kernels of our own that a backend may have beside those of TensorFlow.js: one pass where a composition of stock ops takes
 * many. Each has a composed twin with the same meaning for backends without it. Their names and attributes are the whole
 * contract between this package and a backend.
 *
 * | kernel | inputs | attributes | outputs |
 * |---|---|---|---|
 * | LayerNorm, RmsNorm | x […, D], gain [D], (LayerNorm) bias [D]? | epsilon | y, mean [N], rstd [N] |
 * | LayerNormGrad, RmsNormGrad | dy, x, gain, mean, rstd | | dx, dgain, dbias |
 * | CrossEntropy | logits [N, V], labels [N] int32 | | loss [N], logSum [N] |
 * | CrossEntropyGrad | dy [N], logits, labels, logSum | | dlogits |
 * | Gelu, GeluGrad | (dy,) x | kind: 'gelu', 'gelu-tanh' or 'silu' | y (dx) |
 * | GatedActivation | gate, up, alike | kind | act(gate) ⊙ up |
 * | GatedActivationGrad | dy, gate, up | kind | dgate, dup |
 * | RotatePairs | u [B, heads, T, Dh], cos, sin [B\|1, 1, T, r/2] | from, to: 'half' or 'interleaved', transposed | y |
 * | Dropout | x | rate, keyLow, keyHigh (dropout.ts) | y |
 * | AdamW | theta, m, v, gradient, decay [n], clip [] | beta1, beta2, epsilon, learningRate, step | theta, m, v |
 * | Attention, AttentionGrad | see attention-kernel.ts | | |
 */

import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

export type Attributes = Readonly<Record<string, number | string | boolean>>;
export type NamedTensors = Readonly<Record<string, Tensor>>;

export const hasKernel = (name: string): boolean => tf.getKernel(name, tf.getBackend()) !== undefined;

/** Runs a kernel that `hasKernel`. */
export function runKernel(name: string, inputs: NamedTensors, attributes: Attributes = {}): Tensor[] {
  const outputs = tf.engine().runKernel(name, { ...inputs }, { ...attributes }) as Tensor | Tensor[];
  return Array.isArray(outputs) ? outputs : [outputs];
}

export interface Gradient {
  /** Which inputs and outputs the backward pass needs, in this order. */
  readonly inputs: readonly string[];
  readonly outputs: readonly boolean[];
  /** All of the inputs' gradients at once, by input name. `dy`: of each output. */
  backward(dy: readonly Tensor[], saved: readonly Tensor[], attributes: Attributes): NamedTensors;
}

/** Teaches TensorFlow.js the gradient of a kernel, once per process. */
export function ensureGradient(kernelName: string, { inputs, outputs, backward }: Gradient): void {
  if (tf.getGradient(kernelName)) return;
  tf.registerGradient({
    kernelName,
    inputsToSave: [...inputs],
    outputsToSave: [...outputs],
    gradFunc: (dy, saved, attributes) => {
      const gradients = backward(Array.isArray(dy) ? dy : [dy], saved, attributes as Attributes);
      return Object.fromEntries(Object.entries(gradients).map(([name, gradient]) => [name, () => gradient]));
    },
  });
}
