/**
 * My encoding: every head prefers what is near, with a strength that it learns.
 *
 *     s_ij = ⟨q_i, k_j⟩ · scoreScale − exp(logStrength_h) · ln(1 + |i − j| / unit)
 *
 * It works as it stands. To make it yours, go from top to bottom: the equation, the options, the parameters, the hook, and last
 * the traits, which the laws of @posenc/testkit then hold it to. The contract, hook by hook, is src/encoding.ts of @posenc/core.
 */
import { defineEncoding, encoding, z } from '@posenc/core';
import type { Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

// What may stand in the JSON beside "type". Strict, so that a misspelt key is refused; `posenc inspect` prints the descriptions.
const config = z.strictObject({
  unit: z.number().positive().default(1).describe('Tokens of distance at which one strength · ln 2 has been lost.'),
});

/** The options, defaults filled in. */
export type MyEncodingConfig = z.infer<typeof config>;

/** ln(1 + |offset| / unit) for offsets key − query in tokens. On the host in float64: tables from there are exact on every device. */
export const fallOff = (offsets: ArrayLike<number>, unit: number): Float64Array =>
  Float64Array.from(offsets, (offset) => Math.log1p(Math.abs(offset) / unit));

/** Unpublished. Put authors, year and link here, and in `reference`. */
export const myEncoding = defineEncoding({
  contract: 1,
  type: 'my-encoding',
  reference: 'unpublished',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale − exp(logStrength_h) · ln(1 + |i − j| / unit)',
  config,
  // Where paper, code and practice differ, and which of them the default follows: a sentence each.
  notes: [],
  create: ({ unit }, { numHeads }) =>
    encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY, // a table of 512 rows ends at 512
        shiftInvariant: true, // only distances count
        requiresCausal: false, // |i − j| is defined on both sides
        readsPositions: true,
        readsSeqLen: false,
      },
      // What is trained: its shape and how it starts. Core draws it, counts it, trains it and keeps it in checkpoints.
      params: { logStrength: { shape: [numHeads], init: { kind: 'constant', value: 0 } } },
      // `hooks(params)(positions)` runs once per forward pass. Fill what you need and leave the rest out: embed, or in a layer
      // rotate, scale, relativeBias (offsets alone), bias (positions or content), mix. `layer` is told the layer's index.
      hooks:
        ({ logStrength }) =>
        () => ({
          layer: () => ({
            relativeBias: (offsets) =>
              tf.tidy(() => {
                const row = tf.tensor2d(Float32Array.from(fallOff(offsets, unit)), [1, offsets.length]);
                return tf.mul<Tensor2D>(tf.exp(logStrength).neg().reshape([numHeads, 1]), row); // [H, 1] · [1, n] → [H, n]
              }),
          }),
        }),
    }),
});
