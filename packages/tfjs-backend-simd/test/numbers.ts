/** Seeded data. */
import * as tf from '@tensorflow/tfjs';

/** Uniform in [−1, 1) from a small generator (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

export function tensorOf(seed: number, shape: readonly number[], dtype: tf.DataType = 'float32'): tf.Tensor {
  const next = numbers(seed);
  const size = shape.reduce((n, extent) => n * extent, 1);
  if (dtype === 'float32') return tf.tensor(Float32Array.from({ length: size }, next), [...shape]);
  if (dtype === 'bool')
    return tf.tensor(
      Uint8Array.from({ length: size }, () => +(next() > 0)),
      [...shape],
      'bool',
    );
  return tf.tensor(
    Int32Array.from({ length: size }, () => Math.round(9 * next())),
    [...shape],
    'int32',
  );
}
