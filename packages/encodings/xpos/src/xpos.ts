/**
 * xPos, extrapolatable position embedding: RoPE whose scores also decay with distance, each pair at a rate of its own.
 *
 *     s_ij = Σ_k ⟨R_k(i) q_i, R_k(j) k_j⟩ · ζ_k^((i − j)/scaleBase) · scoreScale
 *
 * R_k turns pair k by position · θ_k. Causal stacks only: for j > i the factor would grow without bound.
 */
import { defineEncoding, encoding, z } from '@posenc/core';
import { applyXpos, xposDecay, xposFrequencies, xposMaxPosition, xposTables, xposTensors } from './tables.ts';

const config = z.strictObject({
  base: z
    .number()
    .min(1, 'must be at least 1, so that no pair turns faster than one radian per position')
    .default(10000)
    .describe('θ, ratio that spaces the frequencies (no unit).'),
  scaleBase: z
    .number()
    .positive()
    .default(512)
    .describe('Tokens after which the product of pair k has fallen to ζ_k; larger decays slower (NeMo: 2048).'),
  gamma: z
    .number()
    .positive()
    .default(0.4)
    .describe('γ: the fastest pair falls to γ/(1 + γ) over scaleBase tokens; larger decays slower.'),
  pairing: z
    .enum(['interleaved', 'half'])
    .default('interleaved')
    .describe('Which channels turn together: (2k, 2k + 1) as in the authors’ code, or (k, k + Dh/2).'),
});

/** The options, defaults filled in. */
export type XposConfig = z.infer<typeof config>;

/** Sun et al. 2022, https://arxiv.org/abs/2212.10554. */
export const xpos = defineEncoding({
  contract: 1,
  type: 'xpos',
  reference: 'Sun et al., A Length-Extrapolatable Transformer, 2022, https://arxiv.org/abs/2212.10554',
  equation: 's_ij = Σ_k ⟨R_k(i) q_i, R_k(j) k_j⟩ · ζ_k^((i − j)/scaleBase) · scoreScale;  ζ_k = (2k/Dh + γ)/(1 + γ)',
  config,
  notes: [
    'The published extrapolation also needs blockwise causal attention at inference: with windows of half the trained length. Set slidingWindow in the model.',
    'torchscale, rotary-embedding-torch and x-transformers centre the scale at half the length; for odd lengths they differ by one position. Scores agree, scaled queries and keys do not. Here the centre is a whole power of two per pair, which cancels to the last bit.',
    'Keys are cached scaled, so a decoding session keeps one sequence length. A library that centres anew at each step mixes centres (rotary-embedding-torch’s cached queries: 1 to 7 % off per pair at 64 keys).',
    'float32 ends it: the factor on keys, uncentred, reaches 2^100 at position 28328 with scaleBase 512. In float16 it would end near 4500.',
    'scaleBase 512 is that of the authors’ code; NeMo uses 2048.',
  ],
  create: (c, { headDim }) => {
    xposDecay(headDim, c.gamma); // refuses an odd width before any model is built
    return encoding({
      traits: {
        maxPosition: xposMaxPosition(c),
        shiftInvariant: true,
        requiresCausal: true,
        readsPositions: true,
        readsSeqLen: false, // read, to stay within float32, but no bit of a score depends on it
      },
      params: {},
      hooks:
        () =>
        ({ query, seqLen }) => {
          const tables = xposTables(query, seqLen, headDim, c);
          const tensors = { query: xposTensors(tables, 'query'), key: xposTensors(tables, 'key') };
          return { layer: () => ({ rotate: (u, side) => applyXpos(u, tensors[side], c.pairing) }) };
        },
    });
  },
  tables: (c, { headDim }) => {
    const perPair = { quantity: 'value', axes: ['pair'], shape: [headDim / 2] } as const;
    return [
      { name: 'radians per position', ...perPair, data: xposFrequencies(headDim, c.base) },
      { name: `factor at distance ${c.scaleBase}`, ...perPair, data: xposDecay(headDim, c.gamma) },
    ];
  },
});
