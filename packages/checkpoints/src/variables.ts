import type { Variables } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import type { HostParams } from './hugging-face.ts';

/** Trainable variables with these values, for `model.forward`. The caller disposes them (`disposeParams`). */
export function toVariables(params: HostParams): Variables {
  const entries = Object.entries(params).map(([path, { data, shape }]) => [
    path,
    tf.tidy(() => tf.variable(tf.tensor(data, [...shape], 'float32'))),
  ]);
  return Object.fromEntries(entries);
}
