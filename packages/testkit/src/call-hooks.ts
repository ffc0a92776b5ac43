/** Hooks called by themselves, outside any model. */
import { explicit, type Grid, type Hooks } from '@posenc/core';
import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { type Bench, type Weights, withParams } from './bench.ts';

/** [H, n] of one layer, or undefined where it has none. */
export async function biasOf(
  bench: Bench,
  layer: number,
  asked: Int32Array,
  positions: Grid,
  weights: Weights = bench.weights,
): Promise<Float32Array | undefined> {
  let row: Float32Array | undefined;
  await withHooks(bench, weights, positions, async (hooks) => {
    const { relativeBias } = hooks.layer?.(layer) ?? {};
    if (relativeBias) row = await values(relativeBias(asked));
  });
  return row;
}

/** The hooks at some positions, and everything they allocate disposed afterwards. */
export function withHooks(
  bench: Bench,
  weights: Weights,
  positions: Grid,
  use: (hooks: Hooks) => Promise<void>,
  seqLen = 1 + positions.data.reduce((a, b) => Math.max(a, b), 0),
): Promise<void> {
  const own = Object.fromEntries(
    Object.keys(bench.encoding.params).map((name) => [name, weights[`encoding.${name}`]!]),
  );
  return withParams(bench.encoding.params, own, async (params) => {
    const engine = tf.engine();
    engine.startScope();
    try {
      const lengths = explicit([new Array(positions.cols).fill(seqLen)]);
      await use(bench.encoding.hooks(params)({ query: positions, key: positions, seqLen: lengths }));
    } finally {
      engine.endScope();
    }
  });
}

export const values = async (tensor: Tensor): Promise<Float32Array> =>
  Float32Array.from((await tensor.data()) as Float32Array);
