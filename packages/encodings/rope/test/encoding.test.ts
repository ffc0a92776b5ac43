/** The encoding as core calls it: shapes, gradients, batches, sequence lengths, memory. */
import { explicit, type Grid, range } from '@posenc/core';
import { applyRotary, ropeFrequencies, rotaryTables, rotaryTensors } from '@posenc/rope';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { deviation } from './golden.ts';
import { constant, create, layerAt, products, random, rotated } from './hooks.ts';

beforeAll(() => tf.setBackend('cpu'));

const variants = [
  ['half', {}],
  ['interleaved', { pairing: 'interleaved' }],
  ['half, six channels of ten', { rotaryDim: 6 }],
  ['interleaved, six channels of ten', { rotaryDim: 6, pairing: 'interleaved' }],
] as const;

describe.each(variants)('%s', (_, options) => {
  const encoding = create(options, 10);

  it('keeps the shape of queries and of fewer key heads', () => {
    const { rotate } = layerAt(encoding, range(5));
    expect(rotate!(random([3, 4, 5, 10], 1), 'query').shape).toEqual([3, 4, 5, 10]);
    expect(rotate!(random([3, 2, 5, 10], 2), 'key').shape).toEqual([3, 2, 5, 10]);
  });

  it('turns queries and keys alike', () => {
    const u = random([2, 2, 4, 10], 3);
    const { rotate } = layerAt(encoding, range(4, 7));
    expect(rotate!(u, 'query').dataSync()).toEqual(rotate!(u, 'key').dataSync());
  });

  it('keeps norms', () => {
    const u = random([1, 2, 6, 10], 4);
    const squares = (data: ArrayLike<number>) =>
      Array.from({ length: 12 }, (_, i) =>
        Array.from(data)
          .slice(10 * i, 10 * i + 10)
          .reduce((sum, x) => sum + x * x, 0),
      );
    expect(deviation(squares(rotated(encoding, u, range(6, 1000))), squares(u.dataSync()))).toBeLessThan(1e-5);
  });

  it('products depend on the distance alone, for positions however large', () => {
    const [q, k] = [random([1, 2, 6, 10], 5), random([1, 2, 6, 10], 6)];
    const here = products(encoding, q, k, explicit([[0, 1, 2, 5, 6, 30]]));
    const far = products(encoding, q, k, explicit([[0, 1, 2, 5, 6, 30].map((p) => p + 100003)]));
    expect(deviation(here, far)).toBeLessThan(1e-5);
    const spread = products(encoding, q, k, explicit([[0, 1, 2, 5, 6, 31]]));
    expect(deviation(here, spread)).toBeGreaterThan(0.1);
  });

  it('the gradient is the upstream gradient turned back', () => {
    const [u, upstream] = [random([2, 2, 3, 10], 7), random([2, 2, 3, 10], 8)];
    const positions = explicit([
      [0, 3, 9],
      [1, 2, 500],
    ]);
    const gradient = tf.grad((x) => layerAt(encoding, positions).rotate!(x as Tensor4D, 'query'))(u, upstream);
    const negated: Grid = { ...positions, data: positions.data.map((p) => -p) };
    expect(deviation(gradient.dataSync(), rotated(encoding, upstream, negated))).toBeLessThan(1e-6);
  });

  it('a batch of different positions equals each row alone', () => {
    const u = random([2, 4, 3, 10], 9);
    const [a, b] = tf.split(u, 2, 0) as [Tensor4D, Tensor4D];
    const together = rotated(
      encoding,
      u,
      explicit([
        [0, 1, 2],
        [40, 50, 7],
      ]),
    );
    expect(together).toEqual(
      Float32Array.of(...rotated(encoding, a, range(3)), ...rotated(encoding, b, explicit([[40, 50, 7]]))),
    );
  });
});

describe('dynamic scaling', () => {
  const scaling = { type: 'dynamic', factor: 4, originalMaxPositionEmbeddings: 8 } as const;
  const encoding = create({ scaling }, 8);
  const u = random([2, 2, 4, 8], 10);

  it('follows each row’s own length: a batch of two lengths equals each alone', () => {
    const [a, b] = tf.split(u, 2, 0) as [Tensor4D, Tensor4D];
    const lengths: Grid = explicit([
      [4, 4, 4, 4],
      [30, 30, 30, 30],
    ]);
    const together = rotated(encoding, u, range(4, 20), lengths);
    const short = rotated(encoding, a, range(4, 20), constant(4, 4));
    const long = rotated(encoding, b, range(4, 20), constant(30, 4));
    expect(together).toEqual(Float32Array.of(...short, ...long));
    expect(deviation(rotated(encoding, a, range(4, 20), constant(30, 4)), short)).toBeGreaterThan(0.1);
  });

  it('follows each token’s own length: two sequences packed in one row equal each alone', () => {
    const [a] = tf.split(u, 2, 0) as [Tensor4D, Tensor4D];
    const [head, tail] = tf.split(a, 2, 2) as [Tensor4D, Tensor4D];
    const packed = rotated(encoding, a, explicit([[3, 4, 20, 21]]), explicit([[6, 6, 30, 30]]));
    const parts = tf.concat(
      [
        tf.tensor4d(rotated(encoding, head, explicit([[3, 4]]), constant(6, 2)), [1, 2, 2, 8]),
        tf.tensor4d(rotated(encoding, tail, explicit([[20, 21]]), constant(30, 2)), [1, 2, 2, 8]),
      ],
      2,
    );
    expect(packed).toEqual(parts.dataSync());
  });

  it('reads positions and lengths row by row', () => {
    const positions = [
      [0, 1, 2, 3],
      [26, 27, 28, 29],
    ];
    const lengths = [
      [9, 9, 9, 9],
      [30, 30, 30, 30],
    ];
    const rows = (tf.split(u, 2, 0) as Tensor4D[]).map((row, b) =>
      rotated(encoding, row, explicit([positions[b]!]), explicit([lengths[b]!])),
    );
    expect(rotated(encoding, u, explicit(positions), explicit(lengths))).toEqual(
      Float32Array.of(...rows[0]!, ...rows[1]!),
    );
  });

  it('equals no scaling up to the trained length, and the formula beyond', () => {
    expect(rotated(encoding, u, range(4), constant(8, 4))).toEqual(rotated(create({}, 8), u, range(4)));
    const frequencies = ropeFrequencies({ scaling }, { headDim: 8, seqLen: 20 });
    const formula = applyRotary(u, rotaryTensors(rotaryTables(range(4), frequencies)), 'half').dataSync();
    expect(rotated(encoding, u, range(4), constant(20, 4))).toEqual(formula);
  });
});

describe('the device', () => {
  it('one table per forward: both layers and both sides share it, and nothing outlives the tidy', () => {
    const u = random([1, 2, 4, 8], 11);
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      const encoding = create({ partialRotaryFactor: 0.5 }, 8);
      const hooks = encoding.hooks({})({ query: range(4), key: range(4), seqLen: constant(4, 4) });
      expect(tf.memory().numTensors - before).toBe(2);
      for (const layer of [0, 1]) for (const side of ['query', 'key'] as const) hooks.layer!(layer).rotate!(u, side);
      expect(tf.memory().numTensors - before).toBe(6);
    });
    expect(tf.memory().numTensors).toBe(before);
  });

  it.each([
    ['another number of positions', range(5), {}],
    [
      'another batch',
      explicit([
        [0, 1, 2, 3],
        [0, 1, 2, 3],
        [0, 1, 2, 3],
      ]),
      {},
    ],
    ['more channels', range(4), { headDim: 16 }],
  ])('refuses tables for %s', (_, positions, { headDim = 8 }: { headDim?: number }) => {
    const tensors = rotaryTensors(rotaryTables(positions, ropeFrequencies({}, { headDim })));
    expect(() => applyRotary(random([2, 1, 4, 8], 12), tensors, 'half')).toThrow(
      /tables for .* do not fit a tensor of shape \[2, 1, 4, 8\]/,
    );
  });
});
