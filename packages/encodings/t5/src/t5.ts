/**
 * T5's relative position bias: each head learns one number per bucket of distance, exact for near tokens and logarithmic for far.
 *
 *     s_ij = scoreScale · ⟨q_i, k_j⟩ + table[bucket(j − i), h]          (added after the scale, never scaled itself; T5: scoreScale = 1)
 */
import { defineEncoding, encoding, z } from '@posenc/core';
import type { Tensor2D, Tensor3D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { bucketsOf, t5Buckets, t5BucketThresholds } from './buckets.ts';

const config = z
  .strictObject({
    numBuckets: z
      .int()
      .min(2)
      .max(4096)
      .default(32)
      .describe('Buckets of distance, one learned number per head each; even for a bidirectional stack.'),
    maxDistance: z
      .int()
      .min(2)
      .max(1 << 20)
      .default(128)
      .describe('Distance from which all share the last bucket, in tokens.'),
    perLayer: z
      .boolean()
      .default(false)
      .describe('A table of its own for every layer (UMT5); otherwise one shared by all (T5).'),
  })
  .refine(({ numBuckets, maxDistance }) => maxDistance > Math.floor(numBuckets / 4), {
    path: ['maxDistance'],
    message: 'must be above numBuckets / 2 for a causal stack, numBuckets / 4 for a bidirectional one',
  });

/** The options, defaults filled in. */
export type T5Config = z.infer<typeof config>;

/** Raffel et al. 2020, https://arxiv.org/abs/1910.10683, section 2.1. */
export const t5 = defineEncoding({
  contract: 1,
  type: 't5',
  reference:
    'Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020, section 2.1, https://arxiv.org/abs/1910.10683',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale + table[bucket(j − i), h]',
  config,
  notes: [
    'T5 does not divide scores by √headDim: to build T5 itself set the model’s scoreScale to 1 (its query projection starts smaller instead). The bias is added unscaled, whatever scoreScale is.',
    'Buckets follow the stack: bidirectional gives each direction half of them, causal all of them to keys before the query. A T5 encoder and decoder have a table each.',
    'T5 owns one table per stack, in the first layer, and reuses it; UMT5 has one in every layer (perLayer).',
    'Bucket boundaries are computed by comparing integers; implementations that round logarithms can put a distance exactly on a boundary (64 of 32 buckets) one bucket too low.',
    'The table starts at N(0, modelDim^−½), as Hugging Face draws it with initializer_factor 1.',
    'WavLM uses 320 buckets up to distance 800.',
  ],
  create: ({ numBuckets, maxDistance, perLayer }, { modelDim, numLayers, numHeads, causal }) => {
    // Refuses impossible numbers before any model is built.
    const thresholds = t5BucketThresholds({ numBuckets, maxDistance, bidirectional: !causal });
    const shape = [perLayer ? numLayers : 1, numBuckets, numHeads];
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: { table: { shape, init: { kind: 'normal', std: modelDim ** -0.5 } } },
      hooks:
        ({ table }) =>
        () => {
          const biases = once((offsets) =>
            tf.tidy(() => {
              const buckets = tf.tensor1d(bucketsOf(offsets, thresholds, !causal), 'int32');
              const rows = tf.gather(table as Tensor3D, buckets, 1); // [layers|1, numBuckets, H] → [layers|1, n, H]
              return rows.transpose<Tensor3D>([0, 2, 1]);
            }),
          );
          // Sliced, not unstacked: tfjs has no gradient for unstacking a single member.
          const biasOf = (row: number, offsets: Int32Array) => {
            const all = biases(offsets); // in the caller's scope: it must outlive this layer
            return tf.tidy(() => tf.slice(all, [row, 0, 0], [1, -1, -1]).reshape<Tensor2D>([numHeads, -1]));
          };
          return { layer: (index) => ({ relativeBias: (offsets) => biasOf(perLayer ? index : 0, offsets) }) };
        },
    });
  },
  tables: ({ numBuckets, maxDistance }, { causal }) => {
    const start = -maxDistance;
    const length = causal ? maxDistance + 1 : 2 * maxDistance + 1;
    const offsets = Int32Array.from({ length }, (_, i) => start + i);
    return [
      {
        name: 'bucket of key − query',
        quantity: 'bucket',
        axes: ['offset'],
        shape: [length],
        start: [start],
        data: t5Buckets(offsets, { numBuckets, maxDistance, bidirectional: !causal }),
      },
    ];
  },
});

/** Keeps the last result, so that a forward looks its offsets up once and not once per layer. */
function once(lookUp: (offsets: Int32Array) => Tensor3D): (offsets: Int32Array) => Tensor3D {
  let last: { offsets: Int32Array; biases: Tensor3D } | undefined;
  return (offsets) => {
    // The caller may have asked for it inside a tidy that is over.
    if (last?.offsets !== offsets || last.biases.isDisposed) last = { offsets, biases: lookUp(offsets) };
    return last.biases;
  };
}
