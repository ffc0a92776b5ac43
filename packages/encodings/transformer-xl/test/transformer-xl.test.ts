import {
  createRegistry,
  type Dims,
  explicit,
  type LayerHooks,
  PosencError,
  type Positions,
  range,
  type Site,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { distanceFrequencies, distanceTable, type TransformerXlConfig, transformerXl } from '../src/index.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const dims: Dims = { modelDim: 4, embeddingDim: 4, numLayers: 2, numHeads: 2, numKvHeads: 1, headDim: 3, causal: true };
const registry = createRegistry([transformerXl]);
const parse = (input: object) => registry.parse({ type: 'transformer-xl', ...input }) as TransformerXlConfig;

describe('config', () => {
  test('defaults are Transformer-XL’s in training', () => {
    expect(transformerXl.config.parse({})).toEqual({ untie: false });
  });

  test.each([
    [{ untied: true }, 'did you mean "untie"?'],
    [{ clampLen: 0 }, '"clampLen" is 0'],
    [{ clampLen: -1 }, '"clampLen" is -1'],
    [{ attnType: 'uni' }, 'unknown key "attnType"'],
  ])('refuses %j', (input, words) => {
    expect(() => parse(input)).toThrow(PosencError);
    expect(() => parse(input)).toThrow(words);
  });

  test('an odd width is refused before any model is built', () => {
    expect(() => transformerXl.create(parse({}), { ...dims, modelDim: 5 })).toThrow(PosencError);
    expect(() => transformerXl.create(parse({}), { ...dims, modelDim: 5 })).toThrow('modelDim is 5');
  });
});

test('u and v are shared by the layers, or one per layer; W_R is per layer', () => {
  const init = { kind: 'normal', std: 0.02 };
  const shapes = (untie: boolean) => transformerXl.create(parse({ untie }), dims).params;
  const [shared, own, wR] = [
    [1, 2, 3],
    [2, 2, 3],
    [2, 4, 6],
  ].map((shape) => ({ shape, init }));
  expect(shapes(false)).toEqual({ u: shared, v: shared, wR });
  expect(shapes(true)).toEqual({ u: own, v: own, wR });
});

describe('sinusoids of the distance', () => {
  test('sines first, then cosines, at 10000^(−2m/D)', () => {
    expect(Array.from(distanceFrequencies(4))).toEqual([1, 10000 ** -0.5]);
    expect(Array.from(distanceTable([3, -3], 4))).toEqual(
      [3, -3].flatMap((d) => [Math.sin(d), Math.sin(0.01 * d), Math.cos(d), Math.cos(0.01 * d)]),
    );
  });

  test('far distances have float64 angles', () => {
    const [sin, , cos] = distanceTable([131_072], 4);
    // 131072 radians, in arbitrary precision
    expect(sin).toBeCloseTo(-0.99911378, 7);
    expect(cos).toBeCloseTo(0.04209082, 7);
  });
});

describe('the bias', () => {
  /** [Tq, Tk] of one head: u = v = 0, q = 1 in its first channel, and W_R sends channel `from` of the sinusoid there. */
  function biasOf(query: Positions['query'], key: Positions['key'], from: number, input: object = {}) {
    const one: Dims = { ...dims, numHeads: 1, headDim: 1, numLayers: 1 };
    const zero = tf.zeros([1, 1, 1]);
    const wR = tf
      .oneHot(tf.tensor1d([from], 'int32'), 4)
      .toFloat()
      .reshape([1, 4, 1]);
    const layer = transformerXl.create(parse(input), one).hooks({ u: zero, v: zero, wR })({ query, key, seqLen: query })
      .layer!(0);
    const site = {
      q: tf.ones([1, 1, query.cols, 1]),
      k: tf.ones([1, 1, key.cols, 1]),
      scoreScale: 1,
    } as Partial<Site> as Site;
    return layer.bias!(site).arraySync()[0]![0]!;
  }

  test('transformer-xl#132: with a memory, distances count from the query’s own position', () => {
    const sines = biasOf(range(2, 3), range(5), 0);
    [3, 4].forEach((i, row) => {
      [0, 1, 2, 3, 4].forEach((j) => {
        expect(sines[row]![j]).toBeCloseTo(Math.sin(i - j), 6);
      });
    });
  });

  test('sines tell a key before from a key after, cosines don’t', () => {
    const [sines, cosines] = [biasOf(range(3), range(3), 0), biasOf(range(3), range(3), 2)];
    expect(sines[0]![2]).toBeCloseTo(-sines[2]![0]!, 6);
    expect(cosines[0]![2]).toBeCloseTo(cosines[2]![0]!, 6);
  });

  test('clampLen cuts distances at both ends, also at scattered positions', () => {
    const at = explicit([[0, 5, 40]]);
    const sines = biasOf(at, at, 0, { clampLen: 7 });
    expect(sines.map((row) => row.map((x) => x.toFixed(5)))).toEqual(
      [0, 5, 40].map((i) =>
        [0, 5, 40].map((j) =>
          Math.sin(Math.min(Math.max(i - j, -7), 7))
            .toFixed(5)
            .replace('-0.00000', '0.00000'),
        ),
      ),
    );
  });

  test('each layer has its own W_R, and its own u and v when untied', () => {
    const [u, v] = [10, 20].map((x) =>
      tf.tensor3d(
        Array.from({ length: 12 }, (_, i) => x + (i < 6 ? 0 : 100)),
        [2, 2, 3],
      ),
    ) as [tf.Tensor, tf.Tensor];
    const wR = tf.tensor3d(
      Array.from({ length: 48 }, (_, i) => (i < 24 ? 1 : 3)),
      [2, 4, 6],
    );
    const at = { query: range(1), key: range(1), seqLen: range(1, 1) };
    const site = { q: tf.zeros([1, 2, 1, 3]), k: tf.ones([1, 2, 1, 3]), scoreScale: 1 } as Partial<Site> as Site;
    const values = (hooks: LayerHooks) => Array.from(hooks.bias!(site).dataSync());
    const untied = transformerXl.create(parse({ untie: true }), dims).hooks({ u, v, wR })(at);
    // Three channels; r_0 = [0, 0, 1, 1].
    expect(values(untied.layer!(0))).toEqual([3 * 10 + 3 * 20 * 2, 3 * 10 + 3 * 20 * 2]);
    expect(values(untied.layer!(1))).toEqual([3 * 110 + 3 * 120 * 6, 3 * 110 + 3 * 120 * 6]);
    const [sharedU, sharedV] = [u, v].map((x) => tf.slice(x, [0, 0, 0], [1, -1, -1])) as [tf.Tensor, tf.Tensor];
    const tied = transformerXl.create(parse({}), dims).hooks({ u: sharedU, v: sharedV, wR })(at);
    expect(values(tied.layer!(1))).toEqual([3 * 10 + 3 * 20 * 6, 3 * 10 + 3 * 20 * 6]);
  });
});

test('inspect is shown the frequencies', () => {
  expect(transformerXl.tables!(parse({}), dims)).toMatchObject([{ quantity: 'frequency', axes: ['pair'], shape: [2] }]);
});
