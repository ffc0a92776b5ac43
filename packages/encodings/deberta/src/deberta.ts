/**
 * DeBERTa’s disentangled attention: besides content to content, a query’s content meets the position of the key (c2p), and a
 * key’s content that of the query (p2c). Positions are rows of one table, sent through a key or a query projection.
 *
 *     s_ij = (⟨q_i, k_j⟩ + ⟨q_i, K_δ⟩ + ⟨k_j, Q_δ⟩) · scoreScale / √(1 + number of terms),   δ = row(i − j)
 *     K = W_K table,  Q = W_Q table:  the layer’s own projections of content, or projections of their own
 */
import {
  defineEncoding,
  encoding,
  gatherRows,
  layerOf,
  type ParamSpec,
  planOffsets,
  type Site,
  standardize,
  z,
} from '@posenc/core';
import type { Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { debertaRow, debertaSpan } from './buckets.ts';

const distance = z
  .int()
  .min(2)
  .max(1 << 20);

const config = z
  .strictObject({
    posAttType: z
      .array(z.enum(['c2p', 'p2c']))
      .min(1)
      .default(['c2p', 'p2c'])
      .describe('Terms besides content to content: content to position, position to content.'),
    positionBuckets: distance
      .nullable()
      .default(256)
      .describe('Rows per direction, logarithmic beyond half of them (v2, v3); null: a row per distance (v1).'),
    maxRelativePositions: distance
      .default(512)
      .describe('Distance in tokens where the logarithmic buckets end; without buckets, where distances are cut.'),
    shareAttKey: z
      .boolean()
      .default(true)
      .describe('Positions go through the layer’s key and query projections (v2, v3); false: through their own.'),
    normRelEbd: z.boolean().default(true).describe('LayerNorm of the table (v2, v3).'),
    normEps: z.number().positive().default(1e-7).describe('Added to the variance in that norm.'),
  })
  .refine(({ posAttType }) => new Set(posAttType).size === posAttType.length, {
    path: ['posAttType'],
    message: 'lists a term twice',
  })
  .refine((c) => c.positionBuckets === null || c.maxRelativePositions - 1 > Math.floor(c.positionBuckets / 2), {
    path: ['maxRelativePositions'],
    message:
      'must be at least positionBuckets / 2 + 2: half of the buckets lie logarithmically between those distances',
  });

/** The options, defaults filled in. */
export type DebertaConfig = z.infer<typeof config>;

/** He, Liu, Gao & Chen 2021, https://arxiv.org/abs/2006.03654. */
export const deberta = defineEncoding({
  contract: 1,
  type: 'deberta',
  reference:
    'He, Liu, Gao & Chen, DeBERTa: Decoding-enhanced BERT with Disentangled Attention, 2021, https://arxiv.org/abs/2006.03654',
  equation: 's_ij = (⟨q_i, k_j⟩ + ⟨q_i, K_δ⟩ + ⟨k_j, Q_δ⟩) · scoreScale / √3, δ = row(i − j)',
  config,
  notes: [
    'The defaults are those of the v2 and v3 checkpoints. v1: positionBuckets null, shareAttKey false, normRelEbd false.',
    'The position to content term reads the row of query − key, as the authors’ code does. The paper’s equation has key − query there; with a table of its own that would be a renaming, but both terms share one.',
    'The key projection of positions has no bias (v2 has one): it adds one number to a whole row, which softmax cancels.',
    'A causal stack works, and reads the upper half of the table only.',
    'DeBERTa adds absolute positions once more before its last layers (the enhanced mask decoder); v2 and v3 add none to the input (position_biased_input false). Neither is part of this encoding.',
  ],
  create: (c, { modelDim, numLayers, numHeads, headDim }) => {
    const factor = 1 / Math.sqrt(1 + c.posAttType.length);
    const [c2p, p2c] = [c.posAttType.includes('c2p'), c.posAttType.includes('p2c')];
    const matrix = (...shape: number[]): ParamSpec => ({ shape, init: { kind: 'normal', std: 0.02 } });
    const vector = (value: number, ...shape: number[]): ParamSpec => ({ shape, init: { kind: 'constant', value } });
    const width = numHeads * headDim;
    const headsOf = (projected: Tensor2D): Tensor3D => projected.reshape([-1, numHeads, headDim]).transpose([1, 0, 2]);

    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: {
        table: matrix(2 * debertaSpan(c), modelDim),
        ...(c.normRelEbd && { normGain: vector(1, modelDim), normBias: vector(0, modelDim) }),
        ...(c2p && !c.shareAttKey && { keyWeight: matrix(numLayers, modelDim, width) }),
        ...(p2c &&
          !c.shareAttKey && {
            queryWeight: matrix(numLayers, modelDim, width),
            queryBias: vector(0, numLayers, width),
          }),
      } as Record<string, ParamSpec>,
      hooks:
        (params) =>
        ({ query, key }) => {
          const [table, normGain, normBias] = [params.table!, params.normGain, params.normBias];
          const normed =
            normGain && normBias ? tf.add(tf.mul(standardize(table, c.normEps), normGain), normBias) : table;
          // Seen from the keys, offsets are query − key.
          const fromQueries = planOffsets(query, key, (offset) => debertaRow(-offset, c));
          const fromKeys = planOffsets(key, query, (offset) => debertaRow(offset, c));
          const rowsOf = (rows: Int32Array) => gatherRows(normed as Tensor2D, tf.tensor1d(rows, 'int32'));
          const [keyRows, queryRows] = [c2p && rowsOf(fromQueries.offsets), p2c && rowsOf(fromKeys.offsets)];

          const keysAt = (rows: Tensor2D, site: Site, layer: number): Tensor3D =>
            params.keyWeight
              ? headsOf(tf.matMul(rows, layerOf<Tensor2D>(params.keyWeight, layer)))
              : site.project('key', rows);
          const queriesAt = (rows: Tensor2D, site: Site, layer: number): Tensor3D => {
            if (!params.queryWeight || !params.queryBias) return site.project('query', rows);
            const projected = tf.matMul(rows, layerOf<Tensor2D>(params.queryWeight, layer));
            return headsOf(tf.add(projected, layerOf(params.queryBias, layer)));
          };
          const bias = (site: Site, layer: number): Tensor4D => {
            const terms: Tensor4D[] = [];
            if (keyRows) terms.push(fromQueries.dot(site.q, keysAt(keyRows, site, layer)));
            if (queryRows) terms.push(fromKeys.dot(site.k, queriesAt(queryRows, site, layer)).transpose([0, 1, 3, 2]));
            return tf.mul(
              terms.reduce((a, b) => tf.add(a, b)),
              site.scoreScale * factor,
            );
          };
          return { layer: (index) => ({ scale: factor, bias: (site) => tf.tidy(() => bias(site, index)) }) };
        },
    });
  },
  tables: (c, { causal }) => {
    const far = c.maxRelativePositions;
    const length = causal ? far + 1 : 2 * far + 1;
    return [
      {
        name: 'row at key − query',
        quantity: 'bucket',
        axes: ['offset'],
        shape: [length],
        start: [-far],
        data: Int32Array.from({ length }, (_, i) => debertaRow(far - i, c)),
      },
    ];
  },
});
