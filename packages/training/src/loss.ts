/** From a batch to its loss. */

import { crossEntropy, type Params, type Random, type Transformer } from '@posenc/core';
import type { Batch } from '@posenc/tasks';
import type { Scalar, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** Mean cross-entropy over the scored tokens of a batch, in nats. */
export function batchLoss(model: Transformer, params: Params, batch: Batch, random?: Random): Scalar {
  const { logits } = model.forward(params, batch, { random });
  const flat = logits.reshape([-1, model.config.vocabSize]) as Tensor2D;
  const scored = batch.targets.data.reduce((count, target) => count + (target >= 0 ? 1 : 0), 0);
  return tf.div(tf.sum(crossEntropy(flat, batch.targets.data)), scored) as Scalar;
}
