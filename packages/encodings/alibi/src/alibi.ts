/**
 * ALiBi, attention with linear biases: each head is penalised in proportion to distance, with a slope of its own.
 *
 *     s_ij = scoreScale · ⟨q_i, k_j⟩ − m_h · |i − j|          (added after the scale, never scaled itself)
 *
 *     geometric   m_h = 2^(−maxBias · h/H), h = 1 … H         (the paper’s text)
 *     press       the same when H is a power of two; else, with c the power of two below H, the c slopes for c heads, then
 *                 the 1st, 3rd, 5th … of the slopes for 2c heads until there are H        (the authors’ code, BLOOM, MPT)
 */
import { defineEncoding, encoding, PosencError, z } from '@posenc/core';
import type { Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

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
    learnable: z
      .boolean()
      .default(false)
      .describe('Train log m_h, starting at these slopes: the slopes move and stay positive.'),
  })
  .refine(({ slopes, learnable }) => !learnable || typeof slopes === 'string' || slopes.every((slope) => slope > 0), {
    path: ['slopes'],
    message: 'a learnable slope is trained as its logarithm, so each must be above 0',
  });

export type AlibiConfig = z.infer<typeof config>;

/**
 * The slope m_h of every head, float64. Throws PosencError when `numHeads` is not a positive integer or the listed slopes are
 * not one per head.
 */
export function alibiSlopes(
  numHeads: number,
  { slopes = 'press', maxBias = 8 }: Partial<Pick<AlibiConfig, 'slopes' | 'maxBias'>> = {},
): Float64Array {
  if (!Number.isInteger(numHeads) || numHeads < 1)
    throw new PosencError(`alibi: numHeads is ${numHeads}; it must be a positive integer`);
  if (typeof slopes !== 'string') {
    if (slopes.length !== numHeads)
      throw new PosencError(
        `alibi: slopes lists ${slopes.length} numbers for ${numHeads} heads; give one per head, or "press" or "geometric"`,
      );
    return Float64Array.from(slopes);
  }
  const geometric = (n: number) => Float64Array.from({ length: n }, (_, h) => 2 ** ((-maxBias * (h + 1)) / n));
  const below = 2 ** (31 - Math.clz32(numHeads)); // the largest power of two up to numHeads
  if (slopes === 'geometric' || below === numHeads) return geometric(numHeads);
  const between = geometric(2 * below).filter((_, h) => h % 2 === 0);
  return Float64Array.from([...geometric(below), ...between.slice(0, numHeads - below)]);
}

/** −m_h · |offset| for every slope and offset (key − query, in tokens), row-major [slopes, offsets], float64. */
export function alibiBias(slopes: ArrayLike<number>, offsets: ArrayLike<number>): Float64Array {
  const n = offsets.length;
  return Float64Array.from(
    { length: slopes.length * n },
    (_, i) => -slopes[Math.floor(i / n)]! * Math.abs(offsets[i % n]!),
  );
}

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
    'Falcon divides the bias by √headDim along with the scores: list slopes divided by √headDim.',
    'The authors found that trained slopes did not extrapolate; learnable is off by default.',
  ],
  create: (config, { numHeads }) => {
    const slopes = alibiSlopes(numHeads, config);
    const traits = {
      maxPosition: Number.POSITIVE_INFINITY,
      shiftInvariant: true,
      requiresCausal: false,
      readsPositions: true,
      readsSeqLen: false,
    };
    if (!config.learnable) {
      const relativeBias = (offsets: Int32Array) =>
        tf.tensor2d(Float32Array.from(alibiBias(slopes, offsets)), [numHeads, offsets.length]);
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
                const distances = tf.tensor2d(Float32Array.from(offsets, Math.abs), [1, offsets.length]);
                return tf.mul<Tensor2D>(tf.exp(logSlopes).neg().reshape([numHeads, 1]), distances); // [H, 1] · [1, n]
              }),
          }),
        }),
    });
  },
  tables: (config, { numHeads }) => [
    {
      name: 'slope',
      quantity: 'slope',
      axes: ['head'],
      shape: [numHeads],
      data: alibiSlopes(numHeads, config),
    },
  ],
});
