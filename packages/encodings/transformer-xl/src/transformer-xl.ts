/**
 * Relative attention of Transformer-XL and XLNet: keys meet a projected sinusoid of their distance, and two biases stand in for the
 * query’s own position.
 *
 *     s_ij = scoreScale · (⟨q_i + u, k_j⟩ + ⟨q_i + v, W_R r_{i−j}⟩)
 *     r_d = [sin(d·ω_0) … sin(d·ω_{D/2−1}) | cos(d·ω_0) … cos(d·ω_{D/2−1})],   ω_m = 10000^(−2m/D)
 */
import { defineEncoding, encoding, layerOf, PosencError, planOffsets, z } from '@posenc/core';
import type { Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const config = z.strictObject({
  untie: z.boolean().default(false).describe('Every layer has its own u and v (XLNet); otherwise all share them.'),
  clampLen: z
    .int()
    .min(1)
    .max(1 << 24)
    .optional()
    .describe('Distances beyond this many tokens count as this many (Transformer-XL: clamp_len in evaluation).'),
});

/** The options, defaults filled in. */
export type TransformerXlConfig = z.infer<typeof config>;

/** ω_m of every pair of channels, in radians per token, float64. Throws PosencError when the width is odd. */
export function distanceFrequencies(width: number): Float64Array {
  if (!Number.isInteger(width) || width < 2 || width % 2 !== 0)
    throw new PosencError(`transformer-xl: modelDim is ${width}; sinusoids of the distance need an even width`);
  return Float64Array.from({ length: width / 2 }, (_, m) => 10000 ** ((-2 * m) / width));
}

/** r_d for every distance d = query − key, in tokens, of either sign: row-major [distances, width], float64. */
export function distanceTable(distances: ArrayLike<number>, width: number): Float64Array {
  const omega = distanceFrequencies(width);
  const half = omega.length;
  return Float64Array.from({ length: distances.length * width }, (_, i) => {
    const [d, channel] = [distances[Math.floor(i / width)]!, i % width];
    return channel < half ? Math.sin(d * omega[channel]!) : Math.cos(d * omega[channel - half]!);
  });
}

/** Dai et al. 2019, https://arxiv.org/abs/1901.02860; Yang et al. 2019, https://arxiv.org/abs/1906.08237. */
export const transformerXl = defineEncoding({
  contract: 1,
  type: 'transformer-xl',
  reference:
    'Dai et al., Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context, 2019, https://arxiv.org/abs/1901.02860; Yang et al., XLNet, 2019, https://arxiv.org/abs/1906.08237',
  equation: 's_ij = (⟨q_i + u, k_j⟩ + ⟨q_i + v, W_R r_{i−j}⟩) · scoreScale',
  config,
  notes: [
    'Transformer-XL shares u and v between layers (untie false); XLNet has them per layer (untie true). W_R is per layer in both.',
    'XLNet’s attn_type follows the stack: "uni" is a causal one, "bi" a bidirectional one, whose distances have both signs.',
    'XLNet’s segment term (same sentence or not) is not part of this encoding, nor is its two-stream attention.',
    'Memory of earlier segments is what a cache keeps: keys of theirs, at their positions, with or without gradients.',
    'Sines come first, then cosines, at the model’s width; the paper’s exponent 2m/D.',
  ],
  create: ({ untie, clampLen = Number.POSITIVE_INFINITY }, { modelDim, numLayers, numHeads, headDim }) => {
    distanceFrequencies(modelDim); // refuses an odd width before any model is built
    const normal = { kind: 'normal', std: 0.02 } as const;
    const bias = { shape: [untie ? numLayers : 1, numHeads, headDim], init: normal };
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: { u: bias, v: bias, wR: { shape: [numLayers, modelDim, numHeads * headDim], init: normal } },
      hooks:
        ({ u, v, wR }) =>
        ({ query, key }) => {
          const plan = planOffsets(query, key, (offset) => Math.min(Math.max(offset, -clampLen), clampLen));
          const sinusoids = distanceTable(
            plan.offsets.map((offset) => -offset),
            modelDim,
          );
          const table = tf.tensor2d(Float32Array.from(sinusoids), [plan.offsets.length, modelDim]);
          return {
            layer: (index) => {
              const biasOf = (tensor: typeof u) =>
                layerOf(tensor, untie ? index : 0).reshape<Tensor4D>([1, numHeads, 1, headDim]);
              return {
                bias: (site) =>
                  tf.tidy(() => {
                    const projected = tf.matMul(table, layerOf<Tensor2D>(wR, index)); // [n, D] → [n, H·Dh]
                    const relativeKeys = projected
                      .reshape<Tensor3D>([-1, numHeads, headDim])
                      .transpose<Tensor3D>([1, 0, 2]);
                    const byPosition = plan.dot(tf.add(site.q, biasOf(v)), relativeKeys);
                    const byContent = tf.sum(tf.mul(site.k, biasOf(u)), 3).expandDims<Tensor4D>(2); // [B, H, 1, Tk]
                    return tf.mul<Tensor4D>(tf.add(byPosition, byContent), site.scoreScale);
                  }),
              };
            },
          };
        },
    });
  },
  tables: (_, { modelDim }) => [
    {
      name: 'frequency of the distance',
      quantity: 'frequency',
      axes: ['pair'],
      shape: [modelDim / 2],
      data: distanceFrequencies(modelDim),
    },
  ],
});
