/**
 * Shaw’s relative position representations: each clipped distance has a learned vector that is added to keys, and one that is
 * added to values.
 *
 *     s_ij = scoreScale · ⟨q_i, k_j + a^K_r⟩          o_i = Σ_j weights_ij · (v_j + a^V_r)          r = clip(j − i, −k, k) + k
 */
import { defineEncoding, encoding, gatherRows, layerOf, type ParamSpec, planOffsets, z } from '@posenc/core';
import type { Tensor, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const config = z.strictObject({
  maxRelativePosition: z
    .int()
    .min(1)
    .max(1 << 16)
    .default(16)
    .describe('Distance k at which offsets are clipped, in tokens: 2k + 1 vectors.'),
  shareHeads: z.boolean().default(true).describe('All heads of a layer read the same vectors; false: each its own.'),
  values: z.boolean().default(true).describe('Vectors for values as well; false: for keys only.'),
});

/** The options, defaults filled in. */
export type ShawConfig = z.infer<typeof config>;

/** The row of an offset key − query: clip(offset, −k, k) + k, within 0 … 2k. */
export const shawRow = (offset: number, maxRelativePosition: number): number =>
  Math.min(Math.max(offset, -maxRelativePosition), maxRelativePosition) + maxRelativePosition;

/** Shaw, Uszkoreit & Vaswani 2018, https://arxiv.org/abs/1803.02155. */
export const shaw = defineEncoding({
  contract: 1,
  type: 'shaw',
  reference:
    'Shaw, Uszkoreit & Vaswani, Self-Attention with Relative Position Representations, 2018, https://arxiv.org/abs/1803.02155',
  equation: 's_ij = ⟨q_i, k_j + a^K_r⟩ · scoreScale, o_i = Σ_j weights_ij · (v_j + a^V_r), r = clip(j − i, −k, k)',
  config,
  notes: [
    'Every layer has its own vectors. The paper’s base model has them per head as well (shareHeads false, k = 16), its big model shares them between heads (k = 8), and so does tensor2tensor’s dot_product_relative, which the default follows.',
    'In the paper’s translation experiments vectors for keys alone did as well as both (values false); sinusoids on top added nothing.',
    'Vectors start at N(0, headDim^−½), as in tensor2tensor’s dot_product_relative_v2.',
    'In a causal stack the vectors of later keys are never read; the table has them all the same.',
  ],
  create: ({ maxRelativePosition, shareHeads, values }, { numLayers, numHeads, headDim }) => {
    const own = shareHeads ? 1 : numHeads;
    const table: ParamSpec = {
      shape: [numLayers, 2 * maxRelativePosition + 1, own, headDim],
      init: { kind: 'normal', std: headDim ** -0.5 },
    };
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: { keys: table, ...(values && { values: table }) } as Record<string, ParamSpec>,
      hooks:
        (params) =>
        ({ query, key }) => {
          const plan = planOffsets(query, key, (offset) => shawRow(offset, maxRelativePosition));
          /** One layer’s vectors, a column for each of the plan’s: [H|1, n, Dh]. */
          const vectorsOf = (stacked: Tensor, layer: number): Tensor3D => {
            const rows = layerOf(stacked, layer).reshape<Tensor2D>([-1, own * headDim]);
            const chosen = gatherRows(rows, tf.tensor1d(plan.offsets, 'int32'));
            return chosen.reshape<Tensor3D>([-1, own, headDim]).transpose([1, 0, 2]);
          };
          const { keys, values: added } = params;
          return {
            layer: (index) => ({
              bias: (site) =>
                tf.tidy(() => tf.mul<Tensor4D>(plan.dot(site.q, vectorsOf(keys!, index)), site.scoreScale)),
              ...(added && {
                mix: (weights: Tensor4D, v: Tensor4D) =>
                  tf.tidy(() => tf.add<Tensor4D>(tf.matMul(weights, v), plan.mix(weights, vectorsOf(added, index)))),
              }),
            }),
          };
        },
    });
  },
  tables: ({ maxRelativePosition }, { causal }) => {
    const far = maxRelativePosition + 2;
    const length = causal ? far + 1 : 2 * far + 1;
    return [
      {
        name: 'row at key − query',
        quantity: 'bucket',
        axes: ['offset'],
        shape: [length],
        start: [-far],
        data: Int32Array.from({ length }, (_, i) => shawRow(i - far, maxRelativePosition)),
      },
    ];
  },
});
