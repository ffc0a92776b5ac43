/** What decoding remembers: rotated keys, values, and host data about the tokens behind them. Immutable; the caller disposes. */
import type { Tensor4D } from '@tensorflow/tfjs';
import type { Grid } from './encoding.ts';

/** What one attention layer keeps of the tokens it has seen. */
export interface LayerCache {
  /** [B, Hkv, T, Dr] rotated. */
  readonly k: Tensor4D;
  /** [B, Hkv, T, Dh] */
  readonly v: Tensor4D;
  /** [B, Hkv, T, Dh] unrotated: only in a layer whose `bias` or `scores` read content. */
  readonly rawKeys?: Tensor4D;
  /** [B, H, T, F] what `carry` returned. */
  readonly carried?: Tensor4D;
}

/** All that is kept of a decoding session between two calls. The caller disposes it (`disposeCache`). */
export interface Cache {
  /** One per layer; empty before the first call. */
  readonly layers: readonly LayerCache[];
  /** [B|1, T] of every token seen. */
  readonly positions: Grid;
  /** [B|1, T] 1 = real. */
  readonly real?: Grid;
  /** [B|1, 1] fixed for the session, so that cached keys and later queries agree. */
  readonly seqLen: Grid;
}

const empty: Grid = { rows: 1, cols: 0, data: new Int32Array(0) };

/** Opens a decoding session. `seqLen`: final length of each row's sequence, prompt and new tokens. */
export function startCache(seqLen: number | readonly number[]): Cache {
  const lengths = typeof seqLen === 'number' ? [seqLen] : seqLen;
  return { layers: [], positions: empty, seqLen: { rows: lengths.length, cols: 1, data: Int32Array.from(lengths) } };
}

/** Every tensor a cache holds, once (without rotation, raw keys and keys are one tensor). */
export function cacheTensors(cache: Cache): Tensor4D[] {
  const all = cache.layers.flatMap((layer) => Object.values(layer) as (Tensor4D | undefined)[]);
  return [...new Set(all.filter((tensor) => tensor !== undefined))];
}

/** Frees the tensors of a cache; forward calls return a new one and leave the old one alone. */
export function disposeCache(cache: Cache): void {
  for (const tensor of cacheTensors(cache)) tensor.dispose();
}
