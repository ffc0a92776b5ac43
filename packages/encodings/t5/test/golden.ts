/** Reading golden files, and calling the bias hook without a model. */

import { type Dims, type Encoding, range } from '@posenc/core';
import { type T5Config, t5 } from '@posenc/t5';
import * as tf from '@tensorflow/tfjs';
import { largestDifference as deviation, goldenOf, type Tensor as Stored } from '../../../../golden.shared.ts';

export { deviation, type Stored };

const { golden } = goldenOf(import.meta.url);

export const load = <T>(name: string): T => golden<T>(`${name}.json`);

export const dims = (rest: Partial<Dims> = {}): Dims => ({
  modelDim: 16,
  embeddingDim: 16,
  numLayers: 2,
  numHeads: 2,
  numKvHeads: 2,
  headDim: 8,
  causal: true,
  ...rest,
});

export const create = (options: Partial<T5Config>, rest: Partial<Dims> = {}): Encoding =>
  t5.create(t5.config.parse(options), dims(rest));

/** The bias hook of one layer, for any positions: T5 reads offsets only. */
export function biasOf(encoding: Encoding, table: tf.Tensor, layer = 0): (offsets: Int32Array) => tf.Tensor2D {
  const hooks = encoding.hooks({ table })({ query: range(1), key: range(1), seqLen: range(1, 1) });
  return hooks.layer!(layer).relativeBias!;
}

/** [H, Tq, Tk] of a table [buckets, H]: queries start at `queryOffset`, keys at 0. */
export function biasMatrix(
  encoding: Encoding,
  table: readonly (readonly number[])[],
  [numQueries, numKeys, queryOffset]: readonly [number, number, number],
): number[] {
  return tf.tidy(() => {
    const lowest = -(queryOffset + numQueries - 1);
    const offsets = Int32Array.from({ length: numQueries + numKeys - 1 }, (_, i) => lowest + i);
    const rows = biasOf(encoding, tf.tensor3d([table.map((row) => [...row])]))(offsets).arraySync();
    return rows.flatMap((row) =>
      Array.from({ length: numQueries * numKeys }, (_, i) => {
        const [query, key] = [queryOffset + Math.floor(i / numKeys), i % numKeys];
        return row[key - query - lowest]!;
      }),
    );
  });
}

/** Rows of a stored matrix. */
export const rowsOf = ({ shape, data }: Stored): number[][] =>
  Array.from({ length: shape[0]! }, (_, i) => data.slice(i * shape[1]!, (i + 1) * shape[1]!));
