/**
 * Turning channel pairs by angles: tables on the host, the rotation on the device. For a pair (x, y) at position p
 *
 *     x' = x·cos(p θ_k) − y·sin(p θ_k)        y' = y·cos(p θ_k) + x·sin(p θ_k)
 *
 * `half` pairs channel k with k + r/2 (Llama and GPT-NeoX in Hugging Face); `interleaved` pairs 2k with 2k + 1 (the paper,
 * GPT-J, Cohere, Meta's own Llama code); `deepseek` turns the same pairs as `interleaved` and returns them as halves, which
 * gives the same scores. Weights trained with one of the first two are wrong with the other.
 */
import { type Grid, type PairTables, rotatePairs } from '@posenc/core';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Frequencies } from './scaling/scaling.ts';

/**
 * Which channels turn together: k and k + r/2 (half), 2k and 2k + 1 (interleaved), or DeepSeek’s reordering of the second into
 * the first.
 */
export type Pairing = 'half' | 'interleaved' | 'deepseek';

/** cos(p θ_k) and sin(p θ_k), times the attention factor: row-major [rows, cols, pairs], float64. */
export interface RotaryTables {
  readonly rows: number;
  readonly cols: number;
  readonly pairs: number;
  readonly cos: Float64Array;
  readonly sin: Float64Array;
}

/** The same on the device, float32 [B|1, 1, T, r/2]: made once per forward, shared by all layers, queries and keys. */
export type RotaryTensors = PairTables;

/**
 * Angles of every position. `frequenciesAt(row, column)` is for frequencies that differ from token to token (dynamic NTK);
 * all must have the same number of pairs. Float64 throughout: a float32 angle is off by 0.004 rad at position 131072.
 */
export function rotaryTables(
  positions: Grid,
  frequencies: Frequencies | ((row: number, column: number) => Frequencies),
): RotaryTables {
  const { rows, cols, data } = positions;
  const frequenciesAt = typeof frequencies === 'function' ? frequencies : () => frequencies;
  const pairs = data.length ? frequenciesAt(0, 0).invFreq.length : 0;
  const cos = new Float64Array(data.length * pairs);
  const sin = new Float64Array(data.length * pairs);
  data.forEach((position, i) => {
    const { invFreq, attentionFactor } = frequenciesAt(Math.floor(i / cols), i % cols);
    for (let k = 0; k < pairs; k++) {
      const angle = position * invFreq[k]!;
      cos[i * pairs + k] = attentionFactor * Math.cos(angle);
      sin[i * pairs + k] = attentionFactor * Math.sin(angle);
    }
  });
  return { rows, cols, pairs, cos, sin };
}

/** Uploads tables. The caller owns the two tensors (inside `tf.tidy`, tidy does). */
export function rotaryTensors({ rows, cols, pairs, cos, sin }: RotaryTables): RotaryTensors {
  const upload = (table: Float64Array) => tf.tensor4d(Float32Array.from(table), [rows, 1, cols, pairs]);
  return { cos: upload(cos), sin: upload(sin) };
}

/**
 * Rotates the first r = 2 × (pairs of the tables) channels of u and passes the others through; differentiable in u.
 *
 * @param u [B, heads, T, Dh], queries or keys
 * @returns the same shape
 * Throws PosencError when the tables do not fit u: another T, another batch, or more channels than u has.
 */
export function applyRotary(u: Tensor4D, tensors: RotaryTensors, pairing: Pairing): Tensor4D {
  return rotatePairs(
    u,
    tensors,
    pairing === 'half' ? 'half' : 'interleaved',
    pairing === 'interleaved' ? pairing : 'half',
  );
}
