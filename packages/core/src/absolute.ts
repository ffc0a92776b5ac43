/** What absolute encodings share: one vector per token, and where it is put. */
import type { Tensor3D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { z } from 'zod';
import type { Dims, Hooks } from './encoding.ts';

/** Options to spread into the schema of an absolute encoding. */
export const absoluteOptions = {
  combine: z
    .enum(['add', 'multiply'])
    .default('add')
    .describe('Add the vector of a position, or multiply by it, channel by channel.'),
  into: z
    .enum(['embedding', 'queriesAndKeys'])
    .default('embedding')
    .describe('Once into the embedding; or in every layer into what queries and keys are made of, and no values.'),
};

/** How vectors meet the tokens, and where. */
export interface AbsoluteOptions {
  readonly combine: 'add' | 'multiply';
  readonly into: 'embedding' | 'queriesAndKeys';
}

/** Width D of the vectors: that of the embedding, or of a layer's input. */
export const absoluteWidth = ({ into }: AbsoluteOptions, { embeddingDim, modelDim }: Dims): number =>
  into === 'embedding' ? embeddingDim : modelDim;

/** x ← x + vectors or x ⊙ vectors, [B, T, D] with [B|1, T, D]: by `embed`, or by `infuse` in every layer, made once for all. */
export function absoluteHooks(vectors: () => Tensor3D, { combine, into }: AbsoluteOptions): Hooks {
  const put = (x: Tensor3D, v: Tensor3D): Tensor3D => (combine === 'add' ? tf.add(x, v) : tf.mul(x, v));
  if (into === 'embedding') return { embed: (x) => tf.tidy(() => put(x, vectors())) };
  const shared = tf.tidy(vectors);
  return { layer: () => ({ infuse: (x) => put(x, shared) }) };
}
