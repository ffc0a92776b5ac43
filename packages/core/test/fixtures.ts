/** Small encodings that fill every hole, for testing core without any package that depends on it. */
import type { Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import {
  at,
  defineEncoding,
  encoding,
  type ModelInput,
  normal,
  resolveModel,
  stream,
  type Traits,
  z,
} from '../src/index.ts';

export const traits: Traits = {
  maxPosition: Number.POSITIVE_INFINITY,
  shiftInvariant: true,
  requiresCausal: false,
  readsPositions: true,
  readsSeqLen: false,
};
const about = { contract: 1, reference: 'test', equation: 'test', notes: [] } as const;

export const nothing = defineEncoding({
  ...about,
  type: 'nothing',
  config: z.strictObject({}),
  create: () => encoding({ traits: { ...traits, readsPositions: false }, params: {}, hooks: () => () => ({}) }),
});

/** x + position/10 in every channel. */
export const ramp = defineEncoding({
  ...about,
  type: 'ramp',
  config: z.strictObject({ numPositions: z.int().default(64) }),
  create: ({ numPositions }) =>
    encoding({
      traits: { ...traits, shiftInvariant: false, maxPosition: numPositions },
      params: {},
      hooks: () => (positions) => ({
        embed: (x) => {
          const { rows, cols, data } = positions.query;
          return tf.add(
            x,
            tf.tensor3d(
              Float32Array.from(data, (p) => p / 10),
              [rows, cols, 1],
            ),
          ) as Tensor3D;
        },
      }),
    }),
});

/** Rotates the first two channels by the position. */
export const turn = defineEncoding({
  ...about,
  type: 'turn',
  config: z.strictObject({ speed: z.number().default(1) }),
  create: ({ speed }) =>
    encoding({
      traits,
      params: {},
      hooks: () => (positions) => {
        const { rows, cols, data } = positions.query;
        const wave = (f: (angle: number) => number) =>
          tf.tensor4d(
            Float32Array.from(data, (p) => f(p * speed)),
            [rows, 1, cols, 1],
          );
        const [cos, sin] = [wave(Math.cos), wave(Math.sin)];
        return {
          layer: () => ({
            rotate: (u) => {
              const [a, b, rest] = tf.split(u, [1, 1, u.shape[3] - 2], 3) as [Tensor4D, Tensor4D, Tensor4D];
              return tf.concat(
                [tf.sub(tf.mul(a, cos), tf.mul(b, sin)), tf.add(tf.mul(b, cos), tf.mul(a, sin)), rest],
                3,
              ) as Tensor4D;
            },
          }),
        };
      },
    }),
});

/** slope · offset per head, with a trained slope. */
export const slope = defineEncoding({
  ...about,
  type: 'slope',
  config: z.strictObject({}),
  create: (_, dims) =>
    encoding({
      traits,
      params: { slopes: { shape: [dims.numHeads, 1], init: { kind: 'normal', std: 1 } } },
      hooks:
        ({ slopes }) =>
        () => ({
          layer: () => ({
            relativeBias: (offsets) => tf.mul(slopes, tf.tensor2d(Float32Array.from(offsets), [1, offsets.length])),
          }),
        }),
    }),
});

/** Everything in a layer: what is carried (the mean of x), raw keys, positions infused and read, and a value mix. */
export const content = defineEncoding({
  ...about,
  type: 'content',
  config: z.strictObject({}),
  create: (_, dims) =>
    encoding({
      traits: { ...traits, shiftInvariant: false, requiresCausal: true },
      params: {},
      hooks: () => (positions) => ({
        layer: () => ({
          infuse: (x) => {
            const { rows, cols, data } = positions.query;
            const places = Float32Array.from(data, (p) => p / 20);
            return tf.add(x, tf.tensor3d(places, [rows, cols, 1])) as Tensor3D;
          },
          scale: 0.7,
          carry: (x) => tf.mul(tf.mean(x, 2, true).expandDims(1), tf.ones([1, dims.numHeads, 1, 2])) as Tensor4D,
          bias: (site) => {
            const reach = tf.mean(site.carried!, 3, true).transpose([0, 1, 3, 2]);
            const keys = tf.mean(site.k, 3, true).transpose([0, 1, 3, 2]);
            const [query, key] = [positions.query, positions.key];
            const rows = Math.max(query.rows, key.rows);
            const late = Float32Array.from(
              { length: rows * query.cols },
              (_, i) => at(query, Math.floor(i / query.cols), i % query.cols) / 20,
            );
            return tf.add(
              tf.add(reach, tf.mul(keys, tf.tensor4d(late, [rows, 1, query.cols, 1]))),
              tf.mul(tf.sigmoid(site.scores()), 0.5),
            ) as Tensor4D;
          },
          mix: (weights, v) => tf.mul(tf.matMul(weights, v), 1.5) as Tensor4D,
        }),
      }),
    }),
});

export const model = (changes: Partial<ModelInput> = {}) =>
  resolveModel({ vocabSize: 11, modelDim: 12, numLayers: 2, numHeads: 3, initStd: 0.4, ...changes });

export function randomTensor(shape: number[], name: string): tf.Tensor {
  const random = stream(1, name);
  return tf.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => normal(random)),
    shape,
  );
}

export const largest = (a: tf.Tensor, b: tf.Tensor): number =>
  tf.tidy(() => tf.max(tf.abs(tf.sub(a, b))).dataSync()[0]!);
