/**
 * What an untrained transformer without positions knows of them. Measured on the concatenated head outputs, before the output
 * projection: the encoding used fills `mix` with the product that is computed anyway, and listens.
 */
import {
  below,
  createParams,
  createTransformer,
  disposeParams,
  type Encoding,
  encoding,
  type Grid,
  permutation,
  resolveModel,
  stream,
} from '@posenc/core';
import type { Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** nanoGPT’s smallest shape, as in the study this repeats (2501.00073): all weights from N(0, 0.02). */
export const model = {
  vocabSize: 96,
  modelDim: 384,
  numLayers: 6,
  numHeads: 6,
  activation: 'gelu-tanh',
  attentionBias: 'none',
  mlpBias: false,
  normBias: false,
  initStd: 0.02,
} as const;

export interface Setting {
  readonly causal: boolean;
  readonly numLayers: number;
  /** Tokens of a row. */
  readonly length: number;
  /** How many different tokens occur; 'distinct': none twice in a row. */
  readonly symbols: number | 'distinct';
  readonly samples: number;
}

/** Head outputs by level: 0 the embeddings, l the l-th layer; row-major [samples, length, modelDim]. */
export function headOutputs(setting: Setting, seed: number): Float32Array[] {
  const { causal, numLayers, length, samples } = setting;
  const heard: Tensor4D[] = [];
  const transformer = createTransformer(resolveModel({ ...model, causal, numLayers }), listening(heard));
  const params = createParams(transformer.params, seed);
  const tokens = tokensOf(setting, seed);
  transformer.forward(params, { tokens }).logits.dispose();
  const levels = tf.tidy(() => [
    tf.gather(params['embedding.tokens'] as Tensor2D, tf.tensor1d(tokens.data, 'int32')).dataSync<'float32'>(),
    ...heard.map((o) => o.transpose([0, 2, 1, 3]).reshape([samples, length, -1]).dataSync<'float32'>()),
  ]);
  tf.dispose(heard);
  disposeParams(params);
  return levels;
}

const listening = (heard: Tensor4D[]): Encoding =>
  encoding({
    traits: {
      maxPosition: Number.POSITIVE_INFINITY,
      shiftInvariant: true,
      requiresCausal: false,
      readsPositions: false,
      readsSeqLen: false,
    },
    params: {},
    hooks: () => () => ({
      layer: () => ({
        mix: (weights, v) => {
          const out = tf.matMul(weights, v) as Tensor4D;
          heard.push(tf.keep(out));
          return out;
        },
      }),
    }),
  });

function tokensOf({ length, symbols, samples }: Setting, seed: number): Grid {
  const random = stream(seed, 'why-positions/tokens');
  const row = () =>
    symbols === 'distinct'
      ? permutation(random, model.vocabSize).slice(0, length)
      : Array.from({ length }, () => below(random, symbols));
  return { rows: samples, cols: length, data: Int32Array.from(Array.from({ length: samples }, row).flat()) };
}

/** Cosine similarity of all positions of one sample, row-major [length, length]. */
export function cosines(level: Float32Array, sample: number, length: number): Float64Array {
  const width = model.modelDim;
  const rows = Array.from({ length }, (_, t) => level.subarray((sample * length + t) * width).subarray(0, width));
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, c) => sum + x * b[c]!, 0);
  const norms = rows.map((row) => Math.sqrt(dot(row, row)));
  return Float64Array.from({ length: length * length }, (_, k) => {
    const [i, j] = [Math.floor(k / length), k % length];
    return dot(rows[i]!, rows[j]!) / (norms[i]! * norms[j]!);
  });
}

/** Share of triples i < j < r in which r is more similar to j, the nearer one: 0.5 by chance, 1 if similarity always grows. */
export function adjacency(similarity: Float64Array, length: number): number {
  let [rising, total] = [0, 0];
  for (let r = 2; r < length; r++)
    for (let j = 1; j < r; j++)
      for (let i = 0; i < j; i++, total++) if (similarity[r * length + i]! < similarity[r * length + j]!) rising++;
  return rising / total;
}

/** Adjacency by level, mean over samples and seeds. */
export function adjacencyByLevel(setting: Setting, seeds: readonly number[]): number[] {
  const perSeed = seeds.map((seed) =>
    headOutputs(setting, seed).map((level) =>
      average(
        Array.from({ length: setting.samples }, (_, s) => adjacency(cosines(level, s, setting.length), setting.length)),
      ),
    ),
  );
  return perSeed[0]!.map((_, level) => average(perSeed.map((levels) => levels[level]!)));
}

/** Mean square of the first layer’s head outputs at each position, as a share of that at the first. */
export function varianceByPosition(setting: Setting, seeds: readonly number[]): number[] {
  const { length, samples } = setting;
  const sums = new Float64Array(length);
  for (const seed of seeds) {
    const level = headOutputs({ ...setting, numLayers: 1 }, seed)[1]!;
    for (let k = 0; k < samples * length * model.modelDim; k++)
      sums[Math.floor(k / model.modelDim) % length]! += level[k]! ** 2;
  }
  return Array.from(sums, (sum) => sum / sums[0]!);
}

/** Cosine similarity of the first layer’s head outputs, mean over samples. */
export function meanCosines(setting: Setting, seed: number): Float64Array {
  const level = headOutputs({ ...setting, numLayers: 1 }, seed)[1]!;
  const all = Array.from({ length: setting.samples }, (_, s) => cosines(level, s, setting.length));
  return all[0]!.map((_, k) => average(all.map((one) => one[k]!)));
}

const average = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
