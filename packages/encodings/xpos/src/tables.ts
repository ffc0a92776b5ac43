/**
 * xPos in numbers: per pair of channels a turn, as in RoPE, and a factor on queries whose inverse is on keys, so that their
 * product shrinks with distance, fast pairs first.
 *
 *     θ_k = base^(−2k/Dh)      ζ_k = (2k/Dh + γ)/(1 + γ)      T_k(p) = ζ_k^((p − c)/scaleBase),  c about half the sequence
 *
 * The centre c keeps T and 1/T near 1 and cancels in the product. So that it cancels to the last bit, T_k is moved by whole powers
 * of two instead: by the one nearest to ζ_k^(−c/scaleBase). Logits then do not depend on the length at all.
 */
import { at, type Grid, type PairLayout, type PairTables, PosencError, rotatePairs } from '@posenc/core';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** The numbers its tables follow from. */
export interface XposOptions {
  readonly base: number;
  readonly scaleBase: number;
  readonly gamma: number;
}

/** Which channels turn together: k and k + r/2 (half), or 2k and 2k + 1 (interleaved). */
export type Pairing = PairLayout;

/** Without a centre, T stays within 2^±100: float32 ends at 2^127, and what is scaled needs room too. */
const range = 100;

/** The first position that is refused, exclusive bound of those that float32 can hold: 28328 at scaleBase 512. */
export const xposMaxPosition = ({ scaleBase, gamma }: Pick<XposOptions, 'scaleBase' | 'gamma'>): number =>
  Math.floor((scaleBase * range) / Math.log2((1 + gamma) / gamma));

/** ζ_k: what the product of pair k is multiplied by at distance scaleBase. Throws PosencError for an odd width. */
export function xposDecay(headDim: number, gamma: number): Float64Array {
  if (headDim % 2) throw new PosencError(`xpos: headDim is ${headDim}, but channels turn in pairs: it must be even`);
  return Float64Array.from({ length: headDim / 2 }, (_, k) => ((2 * k) / headDim + gamma) / (1 + gamma));
}

/** Radians per position of each pair. */
export const xposFrequencies = (headDim: number, base: number): Float64Array =>
  Float64Array.from({ length: headDim / 2 }, (_, k) => base ** ((-2 * k) / headDim));

/** T·cos and T·sin for queries, cos/T and sin/T for keys; row-major [rows, cols, Dh/2], float64. */
export interface XposTables {
  readonly rows: number;
  readonly cols: number;
  readonly pairs: number;
  readonly query: { readonly cos: Float64Array; readonly sin: Float64Array };
  readonly key: { readonly cos: Float64Array; readonly sin: Float64Array };
}

/** `seqLen` [B|1, T], the length of each token's own sequence, in tokens: it moves numbers away from the ends of float32. */
export function xposTables(positions: Grid, seqLen: Grid, headDim: number, options: XposOptions): XposTables {
  const { scaleBase, gamma, base } = options;
  const [zeta, theta] = [xposDecay(headDim, gamma), xposFrequencies(headDim, base)];
  const pairs = zeta.length;
  const rows = Math.max(positions.rows, seqLen.rows);
  const { cols } = positions;
  const table = () => new Float64Array(rows * cols * pairs);
  const [query, key] = [
    { cos: table(), sin: table() },
    { cos: table(), sin: table() },
  ];
  const furthest = Math.floor(xposMaxPosition(options) / 2);
  for (let b = 0, i = 0; b < rows; b++)
    for (let t = 0; t < cols; t++) {
      const position = at(positions, b, t);
      const centre = Math.min(Math.floor(at(seqLen, b, t) / 2), furthest);
      for (let k = 0; k < pairs; k++, i++) {
        const shift = 2 ** -Math.round((centre / scaleBase) * Math.log2(zeta[k]!));
        const scale = zeta[k]! ** (position / scaleBase) * shift;
        const [cos, sin] = [Math.cos(position * theta[k]!), Math.sin(position * theta[k]!)];
        query.cos[i] = cos * scale;
        query.sin[i] = sin * scale;
        key.cos[i] = cos / scale;
        key.sin[i] = sin / scale;
      }
    }
  return { rows, cols, pairs, query, key };
}

/** One side's tables on the device, float32 [B|1, 1, T, Dh/2]. */
export type XposTensors = PairTables;

/** Uploads one side. The caller owns the two tensors (inside `tf.tidy`, tidy does). */
export function xposTensors(tables: XposTables, side: 'query' | 'key'): XposTensors {
  const upload = (table: Float64Array) =>
    tf.tensor4d(Float32Array.from(table), [tables.rows, 1, tables.cols, tables.pairs]);
  return { cos: upload(tables[side].cos), sin: upload(tables[side].sin) };
}

/** u [B, heads, T, Dh] → the same shape: (x, y) of each pair becomes (x cos − y sin, y cos + x sin). Differentiable in u. */
export function applyXpos(u: Tensor4D, tensors: XposTensors, pairing: Pairing): Tensor4D {
  return rotatePairs(u, tensors, pairing);
}
