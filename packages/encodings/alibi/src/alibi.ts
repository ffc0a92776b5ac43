/**
 * ALiBi, attention with linear biases: each head is penalised in proportion to distance, with a slope of its own.
 *
 *     s_ij = scoreScale · ⟨q_i, k_j⟩ − m_h · |i − j|          (added after the scale, never scaled itself)
 *
 *     geometric   m_h = 2^(−maxBias · h/H), h = 1 … H         (the paper’s text)
 *     press       the same when H is a power of two; else, with c the power of two below H, the c slopes for c heads, then
 *                 the 1st, 3rd, 5th … of the slopes for 2c heads until there are H        (the authors’ code, BLOOM, MPT)
 *
 * Falcon differs twice: its bias is divided by √headDim along with the scores (`scaled`), and rounded: key j has
 * b(m_h · b(j)), b to bfloat16, for every query (`precision`), which depends on where the tokens stand.
 */
import { at, defineEncoding, encoding, type Grid, HIDDEN, z } from '@posenc/core';
import type { Tensor, Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import {
  type AlibiDirections,
  alibiBias,
  alibiDistance,
  alibiSlopes,
  oneSidedSlopes,
  roundedBias,
  toBfloat16,
} from './bias.ts';

const config = z
  .strictObject({
    maxBias: z
      .number()
      .positive()
      .default(8)
      .describe('The gentlest slope is 2^(−maxBias) (MPT: alibi_bias_max). Unused when slopes are listed.'),
    slopes: z
      .union([z.enum(['press', 'geometric']), z.array(z.number().min(0)).min(1)])
      .default('press')
      .describe('Rule for the slopes, or one number per head: logits lost per token of distance.'),
    bidirectional: z
      .enum(['symmetric', 'asymmetric', 'halfSlope'])
      .default('symmetric')
      .describe(
        'In a bidirectional stack: both directions alike; half of the heads see left, half right; half a slope less before the query. A causal stack has one direction and ignores it.',
      ),
    scaled: z.boolean().default(false).describe('Divide the bias by √headDim, like the scores (Falcon).'),
    precision: z
      .enum(['exact', 'bfloat16'])
      .default('exact')
      .describe('Round slopes, positions and their products as Falcon does; causal stacks only.'),
    learnable: z
      .boolean()
      .default(false)
      .describe('Train log m_h, starting at these slopes: the slopes move and stay positive.'),
  })
  .refine(({ slopes, learnable }) => !learnable || typeof slopes === 'string' || slopes.every((slope) => slope > 0), {
    path: ['slopes'],
    message: 'a learnable slope is trained as its logarithm, so each must be above 0',
  })
  .refine(({ precision, learnable }) => !learnable || precision === 'exact', {
    path: ['precision'],
    message: 'rounded slopes have no gradient: leave it "exact" to train them',
  })
  .refine(({ precision, bidirectional }) => precision === 'exact' || bidirectional === 'symmetric', {
    path: ['bidirectional'],
    message: 'rounded biases serve causal stacks only, which have one direction: leave it "symmetric"',
  });

/** The options, defaults filled in. */
export type AlibiConfig = z.infer<typeof config>;

/** Press, Smith & Lewis 2022, https://arxiv.org/abs/2108.12409. */
export const alibi = defineEncoding({
  contract: 1,
  type: 'alibi',
  reference:
    'Press, Smith & Lewis, Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation, 2022, https://arxiv.org/abs/2108.12409',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale − m_h · |i − j|',
  config,
  notes: [
    'For a head count that is not a power of two the paper’s text gives a plain geometric sequence; the authors’ code, BLOOM and MPT interpolate. The default follows the code; slopes "geometric" is the text.',
    'The bias is symmetric, so it also serves bidirectional stacks. BLOOM and MPT add m_h · j instead, the same up to a constant per row and right only under a causal mask.',
    'The paper is about causal models. For others the authors suggest the symmetric form or one in which half of the heads see left and half right (bidirectional "asymmetric"); Ruoss et al. take half a slope off before the query ("halfSlope").',
    'Falcon divides the bias by √headDim along with the scores, and rounds it to bfloat16 by key position: scaled and precision "bfloat16". From position 257 on it no longer tells all neighbours apart.',
    'The authors found that trained slopes did not extrapolate; learnable is off by default.',
  ],
  create: (config, { numHeads, headDim, causal }) => {
    const directions = causal ? 'symmetric' : config.bidirectional;
    const slopes = slopesOf(config, numHeads, causal);
    const factor = config.scaled ? headDim ** -0.5 : 1;
    const rounded = config.precision === 'bfloat16';
    const traits = {
      maxPosition: Number.POSITIVE_INFINITY,
      shiftInvariant: !rounded,
      requiresCausal: rounded,
      readsPositions: true,
      readsSeqLen: false,
    };
    if (rounded)
      return encoding({
        traits,
        params: {},
        hooks:
          () =>
          ({ query, key }) => {
            const bias = tf.tidy(() => roundedTensor(slopes, query, key, factor));
            return { layer: () => ({ bias: () => bias }) };
          },
      });
    if (!config.learnable) {
      const scaledSlopes = slopes.map((slope) => slope * factor);
      const relativeBias = (offsets: Int32Array) =>
        tf.tensor2d(Float32Array.from(alibiBias(scaledSlopes, offsets, directions)), [numHeads, offsets.length]);
      return encoding({ traits, params: {}, hooks: () => () => ({ layer: () => ({ relativeBias }) }) });
    }
    return encoding({
      traits,
      params: { logSlopes: { shape: [numHeads], init: { kind: 'values', values: Array.from(slopes, Math.log) } } },
      hooks:
        ({ logSlopes }) =>
        () => ({
          layer: () => ({
            relativeBias: (offsets) =>
              tf.tidy(() => {
                const { distances, hidden } = distancesOf(offsets, numHeads, directions);
                const slopes = tf.mul(tf.exp(logSlopes), -factor).reshape([numHeads, 1]);
                const bias = tf.mul<Tensor2D>(slopes, distances); // [H, 1] · [1|H, n]
                return hidden ? tf.add<Tensor2D>(bias, hidden) : bias;
              }),
          }),
        }),
    });
  },
  tables: (config, { numHeads, headDim, causal }) => [
    {
      name: 'slope',
      // Other forms do not lose the same for every token of distance.
      quantity: causal || config.bidirectional === 'symmetric' ? 'slope' : 'value',
      axes: ['head'],
      shape: [numHeads],
      data: slopesOf(config, numHeads, causal).map(
        (slope) =>
          (config.precision === 'bfloat16' ? toBfloat16(slope) : slope) * (config.scaled ? headDim ** -0.5 : 1),
      ),
    },
  ],
});

const slopesOf = (config: AlibiConfig, numHeads: number, causal: boolean): Float64Array =>
  !causal && config.bidirectional === 'asymmetric' ? oneSidedSlopes(numHeads, config) : alibiSlopes(numHeads, config);

/** What slopes multiply, [1|H, n], and what hides the side a head does not look at, where there is one. */
function distancesOf(offsets: Int32Array, numHeads: number, directions: AlibiDirections) {
  const rows = directions === 'asymmetric' ? numHeads : 1;
  const each = (f: (distance: number | undefined) => number): Tensor2D => {
    const n = offsets.length;
    const data = Float32Array.from({ length: rows * n }, (_, i) =>
      f(alibiDistance(offsets[i % n]!, Math.floor(i / n), numHeads, directions)),
    );
    return tf.tensor2d(data, [rows, n]);
  };
  return {
    distances: each((distance) => distance ?? 0),
    ...(rows > 1 && { hidden: each((distance) => (distance === undefined ? HIDDEN : 0)) }),
  };
}

/** [B|1, H, Tq, Tk] the rounded number of each key less that of its query: Falcon’s, up to a constant per row. */
function roundedTensor(slopes: Float64Array, query: Grid, key: Grid, factor: number): Tensor4D {
  const numbers = (grid: Grid): Tensor => {
    const { rows, cols } = grid;
    const data = Float32Array.from({ length: rows * slopes.length * cols }, (_, i) => {
      const [row, t] = [Math.floor(i / cols), i % cols];
      return roundedBias(slopes[row % slopes.length]!, at(grid, Math.floor(row / slopes.length), t));
    });
    return tf.tensor3d(data, [rows, slopes.length, cols]);
  };
  return tf.mul(tf.sub(numbers(key).expandDims(2), numbers(query).expandDims(3)), factor);
}
