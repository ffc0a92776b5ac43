/** One call of attention: what its files share. */

import { MR } from './pack';
import { at } from './simd';

/** Queries and keys of a block: a multiple of the tile's 6 rows and of its 8 columns. */
export const BLOCK: i32 = 48;
export const ROW: usize = BLOCK * 4;
export const SQUARE: i32 = BLOCK * BLOCK;

/** What src/kernels/attention.ts writes, field by field. Shapes: q [B, H, Tq, Dr], k [B, Hkv, Tk, Dr], v [B, Hkv, Tk, Dv]. */
@unmanaged
export class Problem {
  scratch: usize;
  scratchBytes: i32;
  q: usize;
  k: usize;
  v: usize;
  /** Forward: k as panels of 8 keys, v as panels of 8 columns. */
  kPacked: usize;
  vPacked: usize;
  out: usize;
  /** [B, H, Tq] log Σ e^s; +∞ where a query sees no key, NaN where all that it sees score −∞. */
  logSums: usize;
  /** [H, biasWidth]; column keyPlaces[j] − queryPlaces[i] is added to score (i, j); 0: none. */
  bias: usize;
  /** [B|1, Tq] and [B|1, Tk]. Strides, here and below: from one row to the next, or 0. */
  queryPlaces: usize;
  keyPlaces: usize;
  /** [B|1, Tq] and [B|1, Tk]: a query sees keys of the same number; 0: all. */
  querySegments: usize;
  keySegments: usize;
  queryPlaceStride: i32;
  keyPlaceStride: i32;
  querySegmentStride: i32;
  keySegmentStride: i32;
  biasWidth: i32;
  H: i32;
  Hkv: i32;
  Tq: i32;
  Tk: i32;
  Dr: i32;
  Dv: i32;
  scale: f32;
  /** 0: none. */
  softcap: f32;
  causal: i32;
  /** A query sees this many keys before and after its own place. */
  reach: i32;
  /** Dropout of weights, see dropout.ts; threshold 0: none. */
  keyLow: i32;
  keyHigh: i32;
  threshold: u32;
  factor: f32;
  /** Backward. */
  dOut: usize;
  dq: usize;
  dk: usize;
  dv: usize;
  /** [B, H, biasWidth] */
  dBias: usize;
}

export function attentionBlock(): i32 {
  return BLOCK;
}

/** Keys of the block from j0 that order lets query i see, counted in eights; those beyond need no work. */
@inline
export function seenKeys(p: Problem, i: i32, j0: i32, cols: i32): i32 {
  return min(cols, padded(max(0, lastKey(p, i) + 1 - j0)));
}

/** Rows to take at a time: all where the first sees the whole block (and so do the others), else a tile's. */
@inline
export function rowsAtOnce(p: Problem, i0: i32, rows: i32, j0: i32, cols: i32): i32 {
  return seenKeys(p, i0, j0, cols) == cols ? ((rows + MR - 1) / MR) * MR : MR;
}

@inline
export function padded(width: i32): i32 {
  return (width + 7) & ~7;
}

/** First and last key that query i sees, before segments. */
@inline
export function firstKey(p: Problem, i: i32): i32 {
  return max(0, p.Tk - p.Tq + i - p.reach);
}
@inline
export function lastKey(p: Problem, i: i32): i32 {
  const place = p.Tk - p.Tq + i;
  return p.causal ? place : min(p.Tk - 1, place + p.reach);
}

/** Whether query i sees no key at all. */
export function isHidden(p: Problem, b: i32, i: i32): bool {
  const last = lastKey(p, i);
  if (!p.keySegments) return firstKey(p, i) > last;
  const own = load<i32>(at(p.querySegments, b * p.querySegmentStride + i));
  const others = at(p.keySegments, b * p.keySegmentStride);
  for (let j = firstKey(p, i); j <= last; j++) if (load<i32>(at(others, j)) == own) return false;
  return true;
}
