/** Attention as a test case: the result and the gradients, whatever path the current backend takes. */
import * as tf from '@tensorflow/tfjs';
import { attention } from '../../core/src/attention.ts';
import type { Grid, LayerHooks } from '../../core/src/encoding.ts';
import { gatherRows } from '../../core/src/kernels/rows.ts';
import { createMask, type MaskRequest } from '../../core/src/mask.ts';
import { planOffsets } from '../../core/src/offsets.ts';
import { sliceColumns } from '../../core/src/positions.ts';
import { stream } from '../../core/src/random.ts';
import { tensorOf } from './agree.ts';

export interface Case {
  readonly B: number;
  readonly H: number;
  readonly Hkv: number;
  readonly Tq: number;
  readonly Tk: number;
  readonly Dr: number;
  readonly Dv: number;
  readonly mask?: Partial<MaskRequest>;
  readonly softcap?: number;
  /** Where the keys stand, the last of them the queries: a bias by offset. */
  readonly biased?: Grid;
  readonly scale?: 'number' | 'perQuery';
  readonly dropout?: number;
  readonly seed?: number;
}

/** Furthest offset that the table of biases has. */
const furthest = 200;

/** q, k, v and, where there is one, the table of biases [H, 2·furthest + 1]. */
function inputsOf({ B, H, Hkv, Tq, Tk, Dr, Dv, biased, seed = 1 }: Case): tf.Tensor[] {
  return [
    tf.mul(tensorOf(seed, [B, H, Tq, Dr]), 3),
    tensorOf(seed + 1, [B, Hkv, Tk, Dr]),
    tensorOf(seed + 2, [B, Hkv, Tk, Dv]),
    ...(biased ? [tensorOf(seed + 3, [H, 2 * furthest + 1])] : []),
  ];
}

function attend(c: Case, [q, k, v, table]: tf.Tensor[]): tf.Tensor {
  const { Tq, Tk, mask, softcap, biased, scale, dropout, seed = 1 } = c;
  const relativeBias = (offsets: Int32Array) => {
    const columns = tf.tensor1d(
      offsets.map((offset) => offset + furthest),
      'int32',
    );
    return gatherRows(table!.transpose() as tf.Tensor2D, columns).transpose() as tf.Tensor2D;
  };
  const hooks: LayerHooks = {
    ...(biased && { relativeBias }),
    ...(scale === 'number' && { scale: 1.5 }),
    ...(scale === 'perQuery' && { scale: tensorOf(seed + 5, [1, 1, Tq, 1]) as tf.Tensor4D }),
  };
  return attention(q as tf.Tensor4D, k as tf.Tensor4D, v as tf.Tensor4D, hooks, {
    mask: mask ? createMask({ causal: false, numQueries: Tq, numKeys: Tk, ...mask }) : {},
    scoreScale: 0.4,
    softcap,
    ...(biased && { offsets: planOffsets(sliceColumns(biased, Tk - Tq, Tk), biased) }),
    ...(dropout && { dropout: { rate: dropout, random: stream(seed, 'dropout') } }),
  });
}

/** The result and the gradients of q, k, v and the biases. */
export function run(c: Case): tf.Tensor[] {
  const inputs = inputsOf(c);
  const y = attend(c, inputs);
  const weights = tensorOf((c.seed ?? 1) + 4, y.shape);
  return [y, ...tf.grads((...x) => tf.sum(tf.mul(attend(c, x), weights)))(inputs)];
}

/** The slope of Σ weights·attend along a direction of all inputs: by the gradient, and by differences. */
export function slopes(c: Case): [number, number] {
  const inputs = inputsOf(c);
  const directions = inputs.map(({ shape }, i) => tensorOf(50 + i, shape));
  const weights = tensorOf(60, [c.B, c.H, c.Tq, c.Dv]);
  const loss = (...x: tf.Tensor[]) => tf.sum(tf.mul(attend(c, x), weights)) as tf.Scalar;
  const gradients = tf.grads(loss)(inputs);
  const along = gradients.map((gradient, i) => tf.sum(tf.mul(gradient, directions[i]!)).dataSync()[0]!);
  const step = 3e-3;
  const at = (t: number) => loss(...inputs.map((x, i) => tf.add(x, tf.mul(directions[i]!, t)))).dataSync()[0]!;
  return [along.reduce((a, b) => a + b), (at(step) - at(-step)) / (2 * step)];
}

export const tolerance = 3e-5;

export function grid(rows: number, cols: number, value: (b: number, t: number) => number): Grid {
  return {
    rows,
    cols,
    data: Int32Array.from({ length: rows * cols }, (_, i) => value(Math.floor(i / cols), i % cols)),
  };
}
