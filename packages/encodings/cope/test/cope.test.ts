import { createRegistry, type Dims, HIDDEN, normal, PosencError, stream } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { cope, copePositions, interpolate } from '../src/index.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const dims: Dims = { modelDim: 8, embeddingDim: 8, numLayers: 3, numHeads: 2, numKvHeads: 1, headDim: 5, causal: true };
const matrix = (rows: number[][]) => tf.tensor4d([[rows]]);

describe('config', () => {
  test('64 positions, as in the paper', () => {
    expect(cope.config.parse({})).toEqual({ numPositions: 64 });
  });

  test.each([{ numPosition: 8 }, { numPositions: 1 }, { numPositions: 2.5 }, { type: 'cope' }])(
    'rejects %j',
    (input) => {
      expect(cope.config.safeParse(input).success).toBe(false);
    },
  );

  test('one table of zeros per layer, for all heads', () => {
    expect(cope.create({ numPositions: 7 }, dims).params).toEqual({
      table: { shape: [3, 7, 5], init: { kind: 'constant', value: 0 } },
    });
  });

  test('a bidirectional stack is refused', () => {
    const create = () => createRegistry([cope]).create({ type: 'cope', numPositions: 8 }, { ...dims, causal: false });
    expect(create).toThrow(PosencError);
    expect(create).toThrow('encoding "cope" needs a causal stack');
  });
});

describe('positions', () => {
  test('scores far above 0 count every visible token, far below none, 0 half of them', () => {
    const visible = (score: number) =>
      matrix([
        [score, HIDDEN, HIDDEN],
        [score, score, HIDDEN],
        [score, score, score],
      ]);
    const positions = (score: number) => copePositions(visible(score), 100).arraySync()[0]![0]!;
    expect(positions(50)).toEqual([
      [1, 0, 0],
      [2, 1, 0],
      [3, 2, 1],
    ]);
    expect(
      positions(-50)
        .flat()
        .every((p) => p < 1e-20),
    ).toBe(true);
    expect(positions(0)).toEqual([
      [0.5, 0, 0],
      [1, 0.5, 0],
      [1.5, 1, 0.5],
    ]);
  });

  test('only what is visible counts: a hidden key in between has the place of its neighbour', () => {
    expect(copePositions(matrix([[50, HIDDEN, HIDDEN, 50, 50]]), 100).arraySync()[0]![0]![0]).toEqual([3, 2, 2, 2, 1]);
  });

  test('counts beyond the table are cut, and pass no gradient', () => {
    const scores = matrix([new Array(6).fill(1)]);
    expect(copePositions(scores, 3).arraySync()[0]![0]![0]!.slice(0, 3)).toEqual([2, 2, 2]); // 0.731 each
    const gradient = tf.grad((s: tf.Tensor) =>
      tf.sum(tf.slice(copePositions(s as tf.Tensor4D, 3), [0, 0, 0, 0], [1, 1, 1, 3])),
    );
    expect(Array.from(gradient(scores).dataSync(), Math.abs)).toEqual(new Array(6).fill(0));
  });
});

describe('interpolation', () => {
  const numbers = () => tf.tensor4d([10, 20, 50, 1, 2, 4], [1, 1, 2, 3]);
  const places = () => tf.tensor4d([0, 0.25, 1, 1.5, 2, 2, 1.75, 0], [1, 1, 2, 4]);

  test('is exact at rows, and linear between them', () => {
    expect(Array.from(interpolate(numbers(), places()).dataSync())).toEqual([10, 12.5, 20, 35, 4, 4, 3.5, 1]);
  });

  test('its derivative is the slope in the place, and the two weights in the numbers', () => {
    const [inNumbers, inPlaces] = tf.grads((x, p) => interpolate(x as tf.Tensor4D, p as tf.Tensor4D))([
      numbers(),
      places(),
    ]);
    // At a row, the slope to the next one; past the last row, none.
    expect(Array.from(inPlaces!.dataSync())).toEqual([10, 10, 30, 30, 0, 0, 2, 1]);
    expect(Array.from(inNumbers!.dataSync())).toEqual([1 + 0.75, 0.25 + 1 + 0.5, 0.5, 1, 0.25, 0.75 + 1 + 1]);
  });

  test('heads and rows of a batch each read their own numbers', () => {
    const own = tf.tensor4d(
      Array.from({ length: 2 * 3 * 2 * 4 }, (_, i) => i * i),
      [2, 3, 2, 4],
    );
    const ours = interpolate(own, tf.fill([2, 3, 2, 5], 2.5) as tf.Tensor4D).arraySync();
    const rows = own.arraySync();
    for (const b of [0, 1])
      for (const h of [0, 1, 2])
        for (const t of [0, 1]) {
          const [low, high] = rows[b]![h]![t]!.slice(2) as [number, number];
          expect(ours[b]![h]![t]).toEqual(new Array(5).fill((low + high) / 2));
        }
  });
});

describe('the table shown', () => {
  test('positions of random scores, as the hook counts them', () => {
    const [table] = cope.tables!({ numPositions: 20 }, dims);
    const n = table!.shape[0]!;
    expect(table!.shape).toEqual([n, n]);
    const random = stream(0, 'cope/scores');
    const scores = Array.from({ length: n }, () => new Array<number>(n).fill(HIDDEN));
    for (let query = 0; query < n; query++) for (let key = query; key >= 0; key--) scores[query]![key] = normal(random);
    const counted = copePositions(matrix(scores), 20).dataSync();
    counted.forEach((position, i) => {
      expect(table!.data[i]).toBeCloseTo(position, 4);
    });
    expect(Math.max(...counted)).toBe(19);
  });
});
