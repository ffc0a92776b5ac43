/** Which key each query may see: core's business alone. Encodings see positions, never padding, segments or caches. */

import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Grid } from './encoding.ts';
import { at } from './positions.ts';

/** Who may see whom, in words that a kernel can follow without a matrix. */
export interface MaskRequest {
  readonly causal: boolean;
  /** Queries of this call; the last of them is the last key. */
  readonly numQueries: number;
  readonly numKeys: number;
  /** Causal: a token sees this many, itself included. Bidirectional: half on each side. */
  readonly slidingWindow?: number;
  /** [B|1, Tk] 1 = real token. */
  readonly real?: Grid;
  /** [B|1, Tk] tokens see only their own segment (packing). */
  readonly segments?: Grid;
}

/** Who may see whom, as tensors. The caller disposes them. */
export interface Mask {
  /** [B|1, 1, Tq, Tk] 0 where visible, very negative where hidden; absent when everything is visible. */
  readonly additive?: Tensor4D;
  /** [B|1, 1, Tq, 1] 0 for rows that see nothing at all, whose output is zeros; absent when there are none. */
  readonly alive?: Tensor4D;
  /** What it was made from, for kernels that need no matrix. */
  readonly request?: MaskRequest;
}

/** Finite, so that a fully hidden row stays free of NaN; far below any score and bias, so that softmax gives exact zeros. */
export const HIDDEN = -1e9;

/**
 * Order in the sequence decides what is causal, not position numbers (those may repeat, jump or be shuffled). The [Tq, Tk]
 * tensors are made when first asked for, in the tidy of whoever asks.
 */
export function createMask(request: MaskRequest): Mask {
  let made: Tensors | undefined;
  const tensors = (): Tensors => {
    if (!made || made.additive?.isDisposed || made.alive?.isDisposed) made = maskTensors(request);
    return made;
  };
  return {
    request,
    get additive() {
      return tensors().additive;
    },
    get alive() {
      return tensors().alive;
    },
  };
}

type Tensors = Pick<Mask, 'additive' | 'alive'>;

function maskTensors(request: MaskRequest): Tensors {
  const { causal, numQueries, numKeys, slidingWindow, real, segments } = request;
  const rows = Math.max(real?.rows ?? 1, segments?.rows ?? 1);
  const values = new Float32Array(rows * numQueries * numKeys);
  const alive = new Float32Array(rows * numQueries).fill(1);
  const reach = slidingWindow === undefined ? numKeys : causal ? slidingWindow - 1 : Math.floor(slidingWindow / 2);
  let anyHidden = false;
  let anyDead = false;
  for (let b = 0, i = 0; b < rows; b++)
    for (let t = 0; t < numQueries; t++) {
      const query = numKeys - numQueries + t;
      let seen = 0;
      for (let key = 0; key < numKeys; key++, i++) {
        const visible =
          (!causal || key <= query) &&
          Math.abs(query - key) <= reach &&
          (!real || at(real, b, key) === 1) &&
          (!segments || at(segments, b, key) === at(segments, b, query));
        if (visible) seen++;
        else values[i] = HIDDEN;
      }
      if (seen < numKeys) anyHidden = true;
      if (seen === 0) {
        alive[b * numQueries + t] = 0;
        anyDead = true;
      }
    }
  return {
    ...(anyHidden && { additive: tf.tensor4d(values, [rows, 1, numQueries, numKeys]) }),
    ...(anyDead && { alive: tf.tensor4d(alive, [rows, 1, numQueries, 1]) }),
  };
}
