/** Calling an encoding's rotate hook without a model. */
import { type Dims, type Encoding, type Grid, type LayerHooks, range } from '@posenc/core';
import { type RopeOptions, rope } from '@posenc/rope';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

export const dims = (headDim: number, rest: Partial<Dims> = {}): Dims => ({
  modelDim: 4 * headDim,
  embeddingDim: 4 * headDim,
  numLayers: 2,
  numHeads: 4,
  numKvHeads: 2,
  headDim,
  causal: true,
  ...rest,
});

export const create = (options: RopeOptions, headDim: number): Encoding =>
  rope.create(rope.config.parse(options), dims(headDim));

/** Every token's own sequence is as long as the call, unless told otherwise. */
export function layerAt(encoding: Encoding, query: Grid, seqLen: Grid = constant(query.cols, query.cols)): LayerHooks {
  return encoding.hooks({})({ query, key: query, seqLen }).layer!(0);
}

export const constant = (value: number, cols: number): Grid => ({
  rows: 1,
  cols,
  data: new Int32Array(cols).fill(value),
});

export function rotated(encoding: Encoding, u: Tensor4D, query: Grid = range(u.shape[2]), seqLen?: Grid): Float32Array {
  return tf.tidy(() => layerAt(encoding, query, seqLen).rotate!(u, 'query').dataSync() as Float32Array);
}

export const random = (shape: [number, number, number, number], seed: number): Tensor4D =>
  tf.randomNormal(shape, 0, 1, 'float32', seed);

/** ⟨R q_i, R k_j⟩ for all i, j: row-major [B, H, T, T]. */
export function products(encoding: Encoding, q: Tensor4D, k: Tensor4D, query: Grid, seqLen?: Grid): Float32Array {
  return tf.tidy(() => {
    const { rotate } = layerAt(encoding, query, seqLen);
    return tf.matMul(rotate!(q, 'query'), rotate!(k, 'key'), false, true).dataSync() as Float32Array;
  });
}
