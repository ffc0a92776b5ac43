/** Small encodings for the holes that the six packages leave empty, each in its plainest right form. */
import { at, type Dims, defineEncoding, encoding, type Grid, type Positions, type Traits, z } from '@posenc/core';
import type { Tensor, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const traits: Traits = {
  maxPosition: Number.POSITIVE_INFINITY,
  shiftInvariant: true,
  requiresCausal: false,
  readsPositions: true,
  readsSeqLen: false,
};
const unit = (...shape: number[]) => ({ shape, init: { kind: 'normal', std: 1 } as const });
const meta = { contract: 1, reference: 'none', equation: 'none', notes: [] } as const;
const empty = z.strictObject({});

/** [B|1, 1, Tq, Tk] of f(query position, key position). */
function pairs({ query, key }: Positions, f: (i: number, j: number) => number): Tensor4D {
  const rows = Math.max(query.rows, key.rows);
  const data: number[] = [];
  for (let b = 0; b < rows; b++)
    for (let t = 0; t < query.cols; t++)
      for (let s = 0; s < key.cols; s++) data.push(f(at(query, b, t), at(key, b, s)));
  return tf.tensor4d(data, [rows, 1, query.cols, key.cols]);
}

const perToken = (grid: Grid, f: (position: number) => number): Tensor4D =>
  tf.tensor4d(Float32Array.from(grid.data, f), [grid.rows, 1, grid.cols, 1]);

/** `scale`: scores × (1 + ln(1 + p)/4) by query position. */
export const temperature = defineEncoding({
  ...meta,
  type: 'temperature',
  config: empty,
  create: () =>
    encoding({
      traits: { ...traits, shiftInvariant: false },
      params: {},
      hooks:
        () =>
        ({ query }) => ({ layer: () => ({ scale: perToken(query, (p) => 1 + Math.log1p(p) / 4) }) }),
    }),
});

/** `bias` from absolute positions: a learned multiple of the distance relative to the query's position. */
export const ratio = defineEncoding({
  ...meta,
  type: 'ratio',
  config: empty,
  create: (_, { numHeads }: Dims) =>
    encoding({
      traits: { ...traits, shiftInvariant: false },
      params: { weight: unit(1, numHeads, 1, 1) },
      hooks:
        ({ weight }) =>
        (at) => {
          const ratios = pairs(at, (i, j) => Math.log1p(Math.abs(i - j)) / Math.log1p(Math.max(i, j, 4)));
          return { layer: () => ({ bias: () => tf.mul(weight, ratios) as Tensor4D }) };
        },
    }),
});

/** `bias` from content and `mix`: a learned vector for near keys and one for far ones, on both keys and values. */
export const nearAndFar = defineEncoding({
  ...meta,
  type: 'nearAndFar',
  config: empty,
  create: (_, { headDim }: Dims) =>
    encoding({
      traits,
      params: { keys: unit(2, headDim), values: unit(2, headDim) },
      hooks:
        ({ keys, values }) =>
        (at) => {
          const near = pairs(at, (i, j) => (Math.abs(i - j) < 4 ? 1 : 0));
          const rows = (table: Tensor) => tf.split(table as Tensor2D, 2, 0) as [Tensor2D, Tensor2D];
          return {
            layer: () => ({
              bias: ({ q, scoreScale }) => {
                const [n, f] = rows(keys).map((row) => tf.sum(tf.mul(q, row), 3, true)) as [Tensor, Tensor];
                return tf.mul(tf.add(f, tf.mul(near, tf.sub(n, f))), scoreScale) as Tensor4D;
              },
              mix: (weights, v) => {
                const [n, f] = rows(values);
                const share = tf.sum(tf.mul(weights, near), 3, true);
                return tf.add(tf.matMul(weights, v), tf.add(tf.mul(share, n), tf.mul(tf.sub(1, share), f))) as Tensor4D;
              },
            }),
          };
        },
    }),
});

/** `carry` and `bias`: keys are forgotten by what their successors' gates say. Positions are not read. */
export const forgetting = defineEncoding({
  ...meta,
  type: 'forgetting',
  config: empty,
  create: (_, { numLayers, modelDim, numHeads }: Dims) =>
    encoding({
      traits: { ...traits, requiresCausal: true, readsPositions: false },
      params: { gates: unit(numLayers, modelDim, numHeads) },
      hooks:
        ({ gates }) =>
        () => ({
          layer: (index) => ({
            carry: (x) => {
              const [batch, length, width] = x.shape;
              const own = tf.slice(gates as Tensor3D, [index, 0, 0], [1, -1, -1]).reshape<Tensor2D>([width, numHeads]);
              // Not tf.logSigmoid, whose gradient reads a tensor that core's tidy has disposed by then.
              const gate = tf.softplus(tf.matMul(x.reshape<Tensor2D>([-1, width]), own).neg()).neg();
              return gate.reshape([batch, length, numHeads, 1]).transpose<Tensor4D>([0, 2, 1, 3]);
            },
            bias: ({ carried, q }) => {
              const [batch, heads, keys] = carried!.shape;
              const queries = q.shape[2];
              const lower = tf.tensor2d(
                Float32Array.from({ length: keys * keys }, (_, i) => (i % keys <= Math.floor(i / keys) ? 1 : 0)),
                [keys, keys],
              );
              const sums = tf.matMul(carried!.reshape<Tensor2D>([batch * heads, keys]), lower, false, true);
              const total = sums.reshape([batch, heads, keys]);
              const recent = tf.slice(total, [0, 0, keys - queries], [-1, -1, -1]);
              return tf.sub(recent.expandDims(3), total.expandDims(2)) as Tensor4D;
            },
          }),
        }),
    }),
});

/** `scores`: minus the squared distance of query and key, weighted per head, instead of their product; and a bias from the plain one. */
export const nearness = defineEncoding({
  ...meta,
  type: 'nearness',
  config: empty,
  create: (_, { numHeads }: Dims) =>
    encoding({
      traits: { ...traits, readsPositions: false },
      params: { weight: unit(1, numHeads, 1, 1) },
      hooks:
        ({ weight }) =>
        () => ({
          layer: () => ({
            scores: ({ q, k, scoreScale }) => {
              const squares = (u: Tensor4D) => tf.sum(tf.square(u), 3, true);
              const product = tf.matMul(q, k, false, true);
              const distance = tf.sub(tf.add(squares(q), squares(k).transpose([0, 1, 3, 2])), tf.mul(product, 2));
              return tf.mul(tf.mul(distance, weight), -scoreScale) as Tensor4D;
            },
          }),
        }),
    }),
});

/** `rotate` that is no isometry: queries grow and keys shrink around the middle of the sequence. Half of it reads seqLen. */
export const growing = defineEncoding({
  ...meta,
  type: 'growing',
  config: z.strictObject({ rate: z.number().default(0.002), stretched: z.boolean().default(false) }),
  create: ({ rate, stretched }) =>
    encoding({
      // Further on, float32 overflows.
      traits: { ...traits, maxPosition: 20_000, requiresCausal: true, readsSeqLen: stretched },
      params: {},
      hooks:
        () =>
        ({ query, seqLen }) => {
          const side = (sign: number) => {
            const rows = Math.max(query.rows, seqLen.rows);
            const power = (i: number) => {
              const [b, t] = [Math.floor(i / query.cols), i % query.cols];
              const slower = stretched ? Math.max(1, at(seqLen, b, t) / 16) : 1;
              return Math.exp((sign * rate * at(query, b, t)) / slower);
            };
            const data = Float32Array.from({ length: rows * query.cols }, (_, i) => power(i));
            return tf.tensor4d(data, [rows, 1, query.cols, 1]);
          };
          const [q, k] = [side(-1), side(1)];
          return { layer: () => ({ rotate: (u, which) => tf.mul(u, which === 'query' ? q : k) as Tensor4D }) };
        },
    }),
});
