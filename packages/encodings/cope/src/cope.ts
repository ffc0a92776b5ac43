/**
 * CoPE, contextual position encoding: the distance to a key is not the number of tokens between, but how many of them a gate
 * counts, and the gate reads the content. A query can so attend to the third last sentence, or the last verb.
 *
 *     g_ij = σ(s_ij),   s the scaled and masked scores: a hidden key counts 0
 *     p_ij = min(Σ_{l=j…i} g_il, numPositions − 1)
 *     s_ij ← s_ij + (1 − w) · ⟨q_i, e_⌊p⌋⟩ + w · ⟨q_i, e_⌊p⌋₊₁⟩,   w = p_ij − ⌊p_ij⌋                       (not scaled)
 */
import { cumulativeSum, defineEncoding, encoding, gatherRows, layerOf, normal, stream, z } from '@posenc/core';
import type { Tensor1D, Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const config = z.strictObject({
  numPositions: z
    .int()
    .min(2)
    .max(1 << 16)
    .default(64)
    .describe('Rows of the table (the paper’s p_max, npos_max): counts beyond the last are cut to it.'),
});

/** The options, defaults filled in. */
export type CopeConfig = z.infer<typeof config>;

/**
 * The position p_ij of every key, counted back from its query: scores [B, H, Tq, Tk], scaled, very negative where hidden →
 * [B, H, Tq, Tk] within 0 … numPositions − 1.
 */
export const copePositions = (scores: Tensor4D, numPositions: number): Tensor4D =>
  tf.minimum(cumulativeSum(tf.sigmoid(scores), { fromEnd: true }), numPositions - 1);

/**
 * Each query's numbers read at fractional places, linearly between neighbours: numbers [B, H, Tq, P], places [B, H, Tq, Tk] within
 * 0 … P − 1 → [B, H, Tq, Tk]. Differentiable in both: the slope between two neighbours is the derivative in the place.
 */
export function interpolate(numbers: Tensor4D, places: Tensor4D): Tensor4D {
  const [batch, numHeads, numQueries, count] = numbers.shape;
  const rows = batch * numHeads * numQueries;
  const flat = numbers.reshape<Tensor2D>([rows, count]);
  const rises = tf.sub(tf.slice(flat, [0, 1], [-1, -1]), tf.slice(flat, [0, 0], [-1, count - 1]));
  const table = tf
    .stack(
      [
        flat,
        tf.pad(rises, [
          [0, 0],
          [0, 1],
        ]),
      ],
      2,
    )
    .reshape<Tensor2D>([rows * count, 2]);

  const below = tf.floor(places);
  const starts = tf.tensor2d(
    Int32Array.from({ length: rows }, (_, row) => row * count),
    [rows, 1],
    'int32',
  );
  const indices = tf.add(starts, below.toInt().reshape([rows, -1])).reshape<Tensor1D>([-1]);
  const [value, rise] = tf.unstack(gatherRows(table, indices), 1).map((u) => u.reshape<Tensor4D>(places.shape));
  return tf.add(value!, tf.mul(rise!, tf.sub(places, below)));
}

/** Golovneva, Wang, Weston & Sukhbaatar 2024, https://arxiv.org/abs/2405.18719. */
export const cope = defineEncoding({
  contract: 1,
  type: 'cope',
  reference:
    'Golovneva, Wang, Weston & Sukhbaatar, Contextual Position Encoding: Learning to Count What’s Important, 2024, https://arxiv.org/abs/2405.18719',
  equation: 's_ij ← s_ij + ⟨q_i, e[p_ij]⟩, p_ij = min(Σ_{l=j…i} σ(s_il), numPositions − 1)',
  config,
  notes: [
    'The table starts at zero, as the authors’ does: the first step trains the table alone, the gates follow.',
    'One table per layer, shared by its heads. The term is not scaled by 1/√headDim, though the scores its gates read are.',
    'Positions count what is visible: padding, other sequences of a packed row and keys outside a window are hidden before the gate, and count 0.',
    'Position numbers are not read at all: it can be combined with an encoding that reads them.',
  ],
  create: ({ numPositions }, { numLayers, headDim }) =>
    encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: true,
        readsPositions: false,
        readsSeqLen: false,
      },
      params: { table: { shape: [numLayers, numPositions, headDim], init: { kind: 'constant', value: 0 } } },
      hooks:
        ({ table }) =>
        () => ({
          layer: (index) => ({
            bias: ({ q, scores }) =>
              tf.tidy(() => {
                const [batch, numHeads, numQueries] = q.shape;
                const rows = layerOf<Tensor2D>(table, index);
                const products = tf.matMul(q.reshape<Tensor2D>([-1, headDim]), rows, false, true);
                const numbers = products.reshape<Tensor4D>([batch, numHeads, numQueries, numPositions]);
                return interpolate(numbers, copePositions(scores(), numPositions));
              }),
          }),
        }),
    }),
  tables: ({ numPositions }) => [
    {
      name: 'position of a key for random scores (seed 0)',
      quantity: 'value',
      axes: ['query', 'key'],
      shape: [SHOWN, SHOWN],
      data: positionsOfRandomScores(numPositions),
    },
  ],
});

/** Queries and keys of the table shown. */
const SHOWN = 64;

/** p_ij for scores of N(0, 1), row-major [SHOWN, SHOWN], float64; 0 where the key lies ahead. */
function positionsOfRandomScores(numPositions: number): Float64Array {
  const random = stream(0, 'cope/scores');
  const positions = new Float64Array(SHOWN * SHOWN);
  for (let query = 0; query < SHOWN; query++) {
    let counted = 0;
    for (let key = query; key >= 0; key--) {
      counted += 1 / (1 + Math.exp(-normal(random)));
      positions[query * SHOWN + key] = Math.min(counted, numPositions - 1);
    }
  }
  return positions;
}
