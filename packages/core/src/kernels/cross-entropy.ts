/** Cross-entropy from integer labels. */

import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { PosencError } from '../errors.ts';
import { expectFloats } from './expect.ts';
import { ensureGradient, hasKernel, runKernel } from './fused.ts';

/**
 * −log softmax(logits)[label], nats per token: [N, V], labels [N] → [N]. A label below 0 is not scored: its loss and
 * gradient are 0. The gradient is softmax − one-hot, without keeping the one-hot matrix of the forward pass.
 *
 * Throws PosencError when there are more or fewer labels than rows, when one is V or above, and when logits are not float32.
 */
export function crossEntropy(logits: Tensor2D, labels: Int32Array): Tensor1D {
  expectFloats('crossEntropy', { logits: [logits, [labels.length, 'V']] });
  const vocabSize = logits.shape[1];
  const outside = labels.find((label) => label >= vocabSize);
  if (outside !== undefined)
    throw new PosencError(`crossEntropy: the label ${outside} is not below the ${vocabSize} classes`);
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
  const [n, vocabSize] = logits.shape;
  const known = labels.map((label) => Math.max(label, 0));
  const scored = () =>
    tf.tensor1d(
      Array.from(labels, (label) => label >= 0),
      'bool',
    );
  const op = tf.customGrad((input, save) => {
    const logProbs = tf.logSoftmax(input as Tensor2D);
    (save as tf.GradSaveFunc)([logProbs]);
    // Chosen, not multiplied by zeros and ones: another class, or a row that is not scored, may be −∞.
    const places = tf.tensor1d(
      known.map((label, i) => i * vocabSize + label),
      'int32',
    );
    const chosen = tf.gather(logProbs.reshape([n * vocabSize]), places);
    const value = tf.where(scored(), tf.neg(chosen), tf.zeros([n]));
    const gradFunc = (dy: Tensor, saved: Tensor[]) => {
      const target = vocabSize === 1 ? tf.ones([n, 1]) : tf.oneHot(tf.tensor1d(known, 'int32'), vocabSize);
      const weight = tf.mul(dy, tf.cast(scored(), 'float32')).reshape([n, 1]);
      return tf.mul(tf.sub(tf.exp(saved[0]!), target), weight);
    };
    return { value, gradFunc };
  });
  return op(logits) as Tensor1D;
}
