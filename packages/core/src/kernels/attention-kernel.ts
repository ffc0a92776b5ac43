/**
 * The streaming attention kernel, where the backend has it: no matrix of scores, memory grows with the length and not with
 * its square (Dao 2022, 2205.14135).
 *
 *     s_ij = cap(scale · ⟨q_i, k_j⟩) + bias_{j−i},   p = softmax over the visible keys j,   y_i = Σ_j p_ij v_j
 *
 * Kernel `Attention`: inputs q [B, H, Tq, Dr], k [B, Hkv, Tk, Dr], v [B, Hkv, Tk, Dv], bias [H, Tq + Tk − 1] (the offset
 * −(Tq − 1) first), querySegments [B|1, Tq] and keySegments [B|1, Tk] (int32; a query sees keys of the same number), the last
 * three without elements where there is no bias and nothing but order decides; attributes scale, softcap (0: none), causal,
 * reach (keys seen before and after the query's own place; the last query stands at the last key).
 * Outputs y [B, H, Tq, Dv] (zeros where no key is visible) and logSums [B, H, Tq] = log Σ e^s.
 * `AttentionGrad`: the same inputs, dy, out and logSums → the gradients of q, k, v and, if it has elements, bias.
 */

import type { Tensor, Tensor2D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { MaskRequest } from '../mask.ts';
import { at } from '../positions.ts';
import { ensureGradient, type Gradient, hasKernel, runKernel } from './fused.ts';

export const hasAttentionKernel = (): boolean => hasKernel('Attention');

export interface AttentionOptions {
  readonly scale: number;
  readonly softcap?: number;
  /** What is visible; absent: everything. */
  readonly mask?: MaskRequest;
  /** [H, Tq + Tk − 1] */
  readonly bias?: Tensor2D;
}

const gradient: Gradient = {
  inputs: ['q', 'k', 'v', 'bias', 'querySegments', 'keySegments'],
  outputs: [true, true],
  backward([dy], saved, attributes) {
    const [q, k, v, bias, querySegments, keySegments, out, logSums] = saved as Tensor[];
    const inputs = { dy: dy!, q: q!, k: k!, v: v!, bias: bias!, querySegments: querySegments! };
    const rest = { keySegments: keySegments!, out: out!, logSums: logSums! };
    const [dq, dk, dv, dbias] = runKernel('AttentionGrad', { ...inputs, ...rest }, attributes);
    return { q: dq!, k: dk!, v: dv!, ...(dbias && { bias: dbias }) };
  },
};

/** Only where `hasAttentionKernel()`. */
export function streamingAttention(q: Tensor4D, k: Tensor4D, v: Tensor4D, options: AttentionOptions): Tensor4D {
  const { scale, softcap = 0, mask, bias = tf.zeros([0, 0]) as Tensor2D } = options;
  ensureGradient('Attention', gradient);
  const window = mask?.slidingWindow;
  const causal = mask?.causal ?? false;
  const all = q.shape[2] + k.shape[2];
  const reach = window === undefined ? all : causal ? window - 1 : Math.floor(window / 2);
  const inputs = { q, k, v, bias, ...segments(mask) };
  return runKernel('Attention', inputs, { scale, softcap, causal, reach })[0] as Tensor4D;
}

/** No query has this number: padding is seen by none. */
const hidden = -(2 ** 31);

function segments(mask: MaskRequest | undefined): { querySegments: Tensor2D; keySegments: Tensor2D } {
  const none = () => tf.zeros([0, 0], 'int32') as Tensor2D;
  if (!mask?.real && !mask?.segments) return { querySegments: none(), keySegments: none() };
  const { numQueries, numKeys, real, segments: own } = mask;
  const rows = Math.max(real?.rows ?? 1, own?.rows ?? 1);
  const table = (cols: number, value: (b: number, t: number) => number) =>
    tf.tensor2d(
      Int32Array.from({ length: rows * cols }, (_, i) => value(Math.floor(i / cols), i % cols)),
      [rows, cols],
      'int32',
    );
  const number = (b: number, t: number) => (own ? at(own, b, t) : 0);
  return {
    querySegments: table(numQueries, (b, t) => number(b, numKeys - numQueries + t)),
    keySegments: table(numKeys, (b, t) => (real && at(real, b, t) !== 1 ? hidden : number(b, t))),
  };
}
