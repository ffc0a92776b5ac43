import {
  compose,
  createRegistry,
  type Dims,
  holesOf,
  PosencError,
  type Positions,
  range,
  type Site,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ShawConfig, shaw, shawRow } from '../src/index.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const dims: Dims = { modelDim: 6, embeddingDim: 6, numLayers: 2, numHeads: 2, numKvHeads: 1, headDim: 3, causal: true };
const registry = createRegistry([shaw]);
const parse = (input: object) => registry.parse({ type: 'shaw', ...input }) as ShawConfig;

describe('config', () => {
  test('defaults: clipped at 16, shared by heads, keys and values', () => {
    expect(shaw.config.parse({})).toEqual({ maxRelativePosition: 16, shareHeads: true, values: true });
  });

  test.each([
    [{ maxRelativePositions: 4 }, 'did you mean "maxRelativePosition"?'],
    [{ maxRelativePosition: 0 }, '"maxRelativePosition" is 0'],
    [{ maxRelativePosition: 2.5 }, '"maxRelativePosition" is 2.5'],
    [{ shareHeads: 1 }, '"shareHeads" is 1'],
  ])('refuses %j', (input, words) => {
    expect(() => parse(input)).toThrow(PosencError);
    expect(() => parse(input)).toThrow(words);
  });
});

test('rows are clipped at both ends', () => {
  expect([-9, -3, -2, 0, 1, 3, 4, 1e6].map((offset) => shawRow(offset, 3))).toEqual([0, 0, 1, 3, 4, 6, 6, 6]);
});

describe('parameters', () => {
  const table = (own: number) => ({ shape: [2, 9, own, 3], init: { kind: 'normal', std: 3 ** -0.5 } });
  test.each([
    [{}, { keys: table(1), values: table(1) }],
    [{ shareHeads: false }, { keys: table(2), values: table(2) }],
    [{ values: false }, { keys: table(1) }],
  ])('%j', (input, expected) => {
    expect(shaw.create(parse({ maxRelativePosition: 4, ...input }), dims).params).toEqual(expected);
  });

  test('without values, weights and values are mixed by core', () => {
    expect(holesOf(shaw.create(parse({}), dims), dims)).toEqual(['bias', 'mix']);
    expect(holesOf(shaw.create(parse({ values: false }), dims), dims)).toEqual(['bias']);
  });
});

describe('each layer and each head reads its own vectors', () => {
  const positions: Positions = { query: range(2, 1), key: range(3), seqLen: range(2, 3) };
  const config = { maxRelativePosition: 1, shareHeads: false };
  /** layer · 100 + row · 10 + head in every channel. */
  const table = () =>
    tf.tensor4d(
      Array.from(
        { length: 2 * 3 * 2 * 3 },
        (_, i) => Math.floor(i / 18) * 100 + (Math.floor(i / 6) % 3) * 10 + (Math.floor(i / 3) % 2),
      ),
      [2, 3, 2, 3],
    );
  // Queries at 1 and 2, keys at 0, 1, 2, clipped at 1.
  const rows = [
    [0, 1, 2],
    [0, 0, 1],
  ];

  test.each([0, 1])('layer %i', (index) => {
    const layer = shaw.create(parse(config), dims).hooks({ keys: table(), values: table() })(positions).layer!(index);
    const q = tf.tensor4d([1, 0, 0, 0, 2, 0, 1, 0, 0, 0, 2, 0], [1, 2, 2, 3]);
    const bias = layer.bias!({ q, scoreScale: 0.5 } as Partial<Site> as Site).arraySync()[0]!;
    const weights = tf.tensor4d([1, 0, 0, 0.5, 0, 0.5, 0, 0, 1, 0, 0.25, 0.75], [1, 2, 2, 3]);
    const mixed = layer.mix!(weights, tf.zeros([1, 2, 3, 3])).arraySync()[0]!;
    const w = weights.arraySync()[0]!;
    for (const h of [0, 1])
      for (const i of [0, 1]) {
        const value = (j: number) => index * 100 + rows[i]![j]! * 10 + h;
        expect(bias[h]![i]).toEqual([0, 1, 2].map((j) => value(j) * (i + 1) * 0.5));
        const sum = w[h]![i]!.reduce((total, weight, j) => total + weight * value(j), 0);
        expect(mixed[h]![i]).toEqual([sum, sum, sum]);
      }
  });
});

test('at most one encoding of a layer may mix values', () => {
  const two = () => compose([shaw.create(parse({}), dims), shaw.create(parse({}), dims)]);
  expect(() => holesOf(two(), dims)).toThrow('fill "mix"');
  const keysOnly = shaw.create(parse({ values: false }), dims);
  expect(holesOf(compose([shaw.create(parse({}), dims), keysOnly]), dims)).toEqual(['bias', 'mix']);
});

test('inspect is shown the row of every offset, up to two beyond the clip', () => {
  const config = parse({ maxRelativePosition: 2 });
  expect(Array.from(shaw.tables!(config, dims)[0]!.data)).toEqual([0, 0, 0, 1, 2]);
  const [both] = shaw.tables!(config, { ...dims, causal: false });
  expect(both).toMatchObject({ quantity: 'bucket', shape: [9], start: [-4] });
  expect(Array.from(both!.data)).toEqual([0, 0, 0, 1, 2, 3, 4, 4, 4]);
});
