/**
 * The streaming attention kernel, where the backend has it: no matrix of scores, memory grows with the length and not with
 * its square (Dao 2022, 2205.14135).
 *
 *     s_ij = cap(scale · ⟨q_i, k_j⟩) + bias_{j−i},   p = softmax over the visible keys j,   y_i = Σ_j dropout(p_ij) v_j
 *
 * Kernel `Attention`: inputs q [B, H, Tq, Dr], k [B, Hkv, Tk, Dr], v [B, Hkv, Tk, Dv]; bias [H, n] with queryPlaces [B|1, Tq] and
 * keyPlaces [B|1, Tk] (int32; the pair (i, j) gets column keyPlaces[j] − queryPlaces[i]); querySegments [B|1, Tq] and keySegments
 * [B|1, Tk] (int32; a query sees keys of the same number). The last five are without elements where there is no bias and nothing
 * but order decides. Attributes scale, softcap (0: none), causal, reach (keys seen before and after the query's own place; the last
 * query stands at the last key), and rate (0: none), keyLow and keyHigh of the dropout of weights.
 * Outputs y [B, H, Tq, Dv] (zeros where no key is visible) and logSums [B, H, Tq] = log Σ e^s (+∞ where none is, so that e^(s − logSum) is 0).
 * `AttentionGrad`: the same inputs, dy, out and logSums → the gradients of q, k, v and, if it has elements, bias.
 */

import type { Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Grid } from '../encoding.ts';
import { PosencError } from '../errors.ts';
import type { MaskRequest } from '../mask.ts';
import type { OffsetBand } from '../offsets.ts';
import { at } from '../positions.ts';
import type { DropoutMask } from './dropout.ts';
import { expectFloats } from './expect.ts';
import { ensureGradient, type Gradient, hasKernel, runKernel } from './fused.ts';

export const hasAttentionKernel = (): boolean => hasKernel('Attention');

export interface AttentionOptions {
  readonly scale: number;
  readonly softcap?: number;
  /** What is visible; absent: everything. */
  readonly mask?: MaskRequest;
  /** One number per head and column of the band, [H, n]. */
  readonly bias?: OffsetBand & { readonly row: Tensor2D };
  /** Of the weights. */
  readonly dropout?: DropoutMask;
}

const sideInputs = ['bias', 'queryPlaces', 'keyPlaces', 'querySegments', 'keySegments'];

const gradient: Gradient = {
  inputs: ['q', 'k', 'v', ...sideInputs],
  outputs: [true, true],
  backward([dy], saved, attributes) {
    const names = ['q', 'k', 'v', ...sideInputs, 'out', 'logSums'];
    const inputs = Object.fromEntries(names.map((name, i) => [name, saved[i]!]));
    const [dq, dk, dv, dbias] = runKernel('AttentionGrad', { dy: dy!, ...inputs }, attributes);
    return { q: dq!, k: dk!, v: dv!, bias: dbias ?? tf.zerosLike(inputs.bias!) };
  },
};

/** Only where `hasAttentionKernel()`. Throws PosencError when shapes do not fit each other, and where a tensor is not float32. */
export function streamingAttention(q: Tensor4D, k: Tensor4D, v: Tensor4D, options: AttentionOptions): Tensor4D {
  const { scale, softcap = 0, mask, bias, dropout = { rate: 0, keyLow: 0, keyHigh: 0 } } = options;
  expectFit(q, k, v, options);
  ensureGradient('Attention', gradient);
  const window = mask?.slidingWindow;
  const causal = mask?.causal ?? false;
  const all = q.shape[2] + k.shape[2];
  const reach = window === undefined ? all : causal ? window - 1 : Math.floor(window / 2);
  const places = { queryPlaces: upload(bias?.queryPlaces), keyPlaces: upload(bias?.keyPlaces) };
  const inputs = { q, k, v, bias: bias?.row ?? tf.zeros([0, 0]), ...places, ...segments(mask) };
  return runKernel('Attention', inputs, { scale, softcap, causal, reach, ...dropout })[0] as Tensor4D;
}

function expectFit(q: Tensor4D, k: Tensor4D, v: Tensor4D, { mask, bias }: AttentionOptions): void {
  expectFloats('attention', { q: [q, ['B', 'H', 'Tq', 'Dr']], k: [k, [q.shape[0], 'Hkv', 'Tk', q.shape[3]]] });
  const [batch, numHeads, numQueries] = q.shape;
  const [, numKvHeads, numKeys] = k.shape;
  const row = bias && { bias: [bias.row, [numHeads, bias.offsets.length]] as const };
  expectFloats('attention', { v: [v, [batch, numKvHeads, numKeys, 'Dv']], ...row });
  if (numHeads % numKvHeads !== 0)
    throw new PosencError(`attention: ${numHeads} heads of queries are no multiple of ${numKvHeads} heads of keys`);
  if (mask && (mask.numQueries !== numQueries || mask.numKeys !== numKeys))
    throw new PosencError(
      `attention: a mask for ${mask.numQueries} queries and ${mask.numKeys} keys does not fit ${numQueries} and ${numKeys}`,
    );
  const grids: readonly (readonly [string, Grid | undefined, number])[] = [
    ['places of queries', bias?.queryPlaces, numQueries],
    ['places of keys', bias?.keyPlaces, numKeys],
    ['real tokens', mask?.real, numKeys],
    ['segments', mask?.segments, numKeys],
  ];
  for (const [name, grid, cols] of grids)
    if (grid && ((grid.rows !== 1 && grid.rows !== batch) || grid.cols !== cols))
      throw new PosencError(`attention: ${name} [${grid.rows}, ${grid.cols}], and [${batch}|1, ${cols}] are wanted`);
}

const upload = ({ rows, cols, data }: Grid = { rows: 0, cols: 0, data: new Int32Array() }): Tensor2D =>
  tf.tensor2d(data, [rows, cols], 'int32');

/** No query has this number: padding is seen by none. */
const hidden = -(2 ** 31);

function segments(mask: MaskRequest | undefined): { querySegments: Tensor2D; keySegments: Tensor2D } {
  if (!mask?.real && !mask?.segments) return { querySegments: upload(), keySegments: upload() };
  const { numQueries, numKeys, real, segments: own } = mask;
  const rows = Math.max(real?.rows ?? 1, own?.rows ?? 1);
  const table = (cols: number, value: (b: number, t: number) => number) =>
    upload({
      rows,
      cols,
      data: Int32Array.from({ length: rows * cols }, (_, i) => value(Math.floor(i / cols), i % cols)),
    });
  const number = (b: number, t: number) => (own ? at(own, b, t) : 0);
  return {
    querySegments: table(numQueries, (b, t) => number(b, numKeys - numQueries + t)),
    keySegments: table(numKeys, (b, t) => (real && at(real, b, t) !== 1 ? hidden : number(b, t))),
  };
}
