/** Cross-entropy from integer labels. */

import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { ensureGradient, hasKernel, runKernel } from './fused.ts';

/**
 * −log softmax(logits)[label], nats per token: [N, V], labels [N] → [N]. A label below 0 is not scored: its loss and
 * gradient are 0. The gradient is softmax − one-hot, without keeping the one-hot matrix of the forward pass.
 */
export function crossEntropy(logits: Tensor2D, labels: Int32Array): Tensor1D {
  return hasKernel('CrossEntropy') ? fused(logits, labels) : composed(logits, labels);
}

function fused(logits: Tensor2D, labels: Int32Array): Tensor1D {
  ensureGradient('CrossEntropy', {
    inputs: ['logits', 'labels'],
    outputs: [false, true],
    backward: ([dy], [logits, labels, logSum]) => ({
      logits: runKernel('CrossEntropyGrad', { dy: dy!, logits: logits!, labels: labels!, logSum: logSum! })[0]!,
    }),
  });
  return runKernel('CrossEntropy', { logits, labels: tf.tensor1d(labels, 'int32') })[0] as Tensor1D;
}

function composed(logits: Tensor2D, labels: Int32Array): Tensor1D {
  const vocabSize = logits.shape[1];
  const scored = Float32Array.from(labels, (label) => (label >= 0 ? 1 : 0));
  const target = () =>
    tf.mul(
      tf.oneHot(
        tf.tensor1d(
          labels.map((label) => Math.max(label, 0)),
          'int32',
        ),
        vocabSize,
      ),
      tf.tensor2d(scored, [labels.length, 1]),
    );
  const op = tf.customGrad((input, save) => {
    const logProbs = tf.logSoftmax(input as Tensor2D);
    (save as tf.GradSaveFunc)([logProbs]);
    const value = tf.neg(tf.sum(tf.mul(logProbs, target()), 1));
    const gradFunc = (dy: Tensor, saved: Tensor[]) => {
      const weight = tf.mul(dy.reshape([-1, 1]), tf.tensor2d(scored, [labels.length, 1]));
      return tf.mul(tf.sub(tf.exp(saved[0]!), target()), weight);
    };
    return { value, gradFunc };
  });
  return op(logits) as Tensor1D;
}
