/**
 * RoPE in an attention that is not posenc's: only the pure functions are used. Run it with
 *
 *     node --conditions=posenc-source examples/own-attention.ts
 */
import { type Grid, range } from '@posenc/core';
import { applyRotary, ropeFrequencies, rotaryTables, rotaryTensors } from '@posenc/rope';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** Causal self-attention: q, k, v [B, H, T, Dh] of tokens at `positions` [B|1, T] → [B, H, T, Dh]. */
export function ownAttention(q: Tensor4D, k: Tensor4D, v: Tensor4D, positions: Grid): Tensor4D {
  return tf.tidy(() => {
    const headDim = q.shape[3];
    const rotary = rotaryTensors(rotaryTables(positions, ropeFrequencies({ base: 10000 }, { headDim })));
    const scores = tf.matMul(applyRotary(q, rotary, 'half'), applyRotary(k, rotary, 'half'), false, true);
    const hidden = tf.sub(1, tf.linalg.bandPart(tf.ones([positions.cols, positions.cols]), -1, 0)).mul(-1e9);
    return tf.matMul(tf.softmax(scores.div(Math.sqrt(headDim)).add(hidden)), v) as Tensor4D;
  });
}

if (import.meta.main) {
  await tf.setBackend('cpu');
  const [q, k, v] = [1, 2, 3].map((seed) => tf.randomNormal([1, 2, 8, 16], 0, 1, 'float32', seed) as Tensor4D);
  const here = ownAttention(q!, k!, v!, range(8));
  const far = ownAttention(q!, k!, v!, range(8, 1000));
  const spread = ownAttention(q!, k!, v!, { rows: 1, cols: 8, data: Int32Array.from({ length: 8 }, (_, t) => 10 * t) });
  const change = (a: Tensor4D, b: Tensor4D) => tf.max(tf.abs(tf.sub(a, b))).arraySync() as number;
  console.log(`all tokens 1000 positions later: the output is ${change(here, far) < 1e-5 ? 'the same' : 'different'}`);
  console.log(`tokens ten times farther apart: ${change(here, spread) < 1e-5 ? 'the same' : 'different'}`);
}
