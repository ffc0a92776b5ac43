import {
  createRegistry,
  createTransformer,
  type Dims,
  dimsOf,
  PosencError,
  type Positions,
  range,
  resolveModel,
  type Site,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type DebertaConfig, deberta, debertaBucket, debertaRow, debertaSpan } from '../src/index.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const dims: Dims = {
  modelDim: 6,
  embeddingDim: 6,
  numLayers: 2,
  numHeads: 2,
  numKvHeads: 1,
  headDim: 3,
  causal: false,
};
const registry = createRegistry([deberta]);
const parse = (input: object) => registry.parse({ type: 'deberta', ...input }) as DebertaConfig;

describe('config', () => {
  test('defaults are those of the v2 and v3 checkpoints', () => {
    expect(deberta.config.parse({})).toEqual({
      posAttType: ['c2p', 'p2c'],
      positionBuckets: 256,
      maxRelativePositions: 512,
      shareAttKey: true,
      normRelEbd: true,
      normEps: 1e-7,
    });
  });

  test.each([
    [{ positionBucket: 256 }, 'did you mean "positionBuckets"?'],
    [{ positionBuckets: -1 }, '"positionBuckets" is -1'],
    [{ posAttType: [] }, '"posAttType" is []'],
    [{ posAttType: ['c2p', 'p2p'] }, '"p2p"'],
    [{ posAttType: ['c2p', 'c2p'] }, 'lists a term twice'],
    [{ positionBuckets: 256, maxRelativePositions: 129 }, 'must be at least positionBuckets / 2 + 2'],
    [{ normEps: 0 }, '"normEps" is 0'],
  ])('refuses %j', (input, words) => {
    expect(() => parse(input)).toThrow(PosencError);
    expect(() => parse(input)).toThrow(words);
  });

  test('v1 needs no room for logarithmic buckets', () => {
    expect(debertaSpan(deberta.config.parse({ positionBuckets: null, maxRelativePositions: 2 }))).toBe(2);
  });
});

describe('buckets', () => {
  test('beyond the table the last row on either side is read', () => {
    const options = { positionBuckets: 256, maxRelativePositions: 512 };
    expect([511, 512, 600, -511, -512, -600].map((rel) => debertaBucket(rel, options))).toEqual([
      255, 256, 270, -255, -256, -270,
    ]);
    expect([511, 512, 600, -511, -512, -600].map((rel) => debertaRow(rel, options))).toEqual([511, 511, 511, 1, 0, 0]);
  });

  test('a distance exactly on a boundary, where float64 misses it, stays in the bucket that ends there', () => {
    // middle 5, M 3125: ln(n/5) · 4 / ln 625 is 1, 2, 3, 4 at n = 25, 125, 625, 3125.
    const boundaries = [25, 125, 625, 3125];
    const rounded = boundaries.map((n) => Math.ceil((Math.log(n / 5) / Math.log(3125 / 5)) * 4));
    expect(rounded).toEqual([1, 2, 4, 4]); // the mistake
    const options = { positionBuckets: 10, maxRelativePositions: 3126 };
    expect(boundaries.map((n) => debertaBucket(n, options))).toEqual([6, 7, 8, 9]);
    expect(boundaries.map((n) => debertaBucket(-n, options))).toEqual([-6, -7, -8, -9]);
    expect(boundaries.map((n) => debertaBucket(n + 1, options))).toEqual([7, 8, 9, 10]);
  });

  test('transformers#31988: buckets are integers, and antisymmetric', () => {
    const options = { positionBuckets: 32, maxRelativePositions: 128 };
    for (let rel = 0; rel < 300; rel++) {
      expect(Number.isInteger(debertaBucket(rel, options))).toBe(true);
      expect(debertaBucket(-rel, options) + debertaBucket(rel, options)).toBe(0);
    }
  });

  test('three buckets: one for each direction and one for distance 0', () => {
    const options = { positionBuckets: 3, maxRelativePositions: 6 };
    expect([-9, -2, -1, 0, 1, 2, 9].map((rel) => debertaBucket(rel, options))).toEqual([-1, -1, -1, 0, 1, 1, 1]);
  });
});

describe('parameters', () => {
  const shapes = (input: object) =>
    Object.fromEntries(
      Object.entries(deberta.create(parse(input), dims).params).map(([name, { shape }]) => [name, shape]),
    );

  test('one table for all layers; projections of its own per layer', () => {
    expect(shapes({})).toEqual({ table: [512, 6], normGain: [6], normBias: [6] });
    expect(shapes({ positionBuckets: null, maxRelativePositions: 8, normRelEbd: false })).toEqual({ table: [16, 6] });
    const own = { shareAttKey: false, normRelEbd: false, positionBuckets: 8 };
    expect(shapes(own)).toEqual({ table: [16, 6], keyWeight: [2, 6, 6], queryWeight: [2, 6, 6], queryBias: [2, 6] });
    expect(shapes({ ...own, posAttType: ['c2p'] })).toEqual({ table: [16, 6], keyWeight: [2, 6, 6] });
    expect(shapes({ ...own, posAttType: ['p2c'] })).toEqual({
      table: [16, 6],
      queryWeight: [2, 6, 6],
      queryBias: [2, 6],
    });
  });
});

describe('terms', () => {
  const length = 3;
  const positions: Positions = { query: range(length), key: range(length), seqLen: range(1, length) };
  /** One head whose table’s row r is [r], and whose queries and keys are given: projections leave rows as they are. */
  function biasOf(posAttType: ('c2p' | 'p2c')[], q: number[], k: number[]) {
    const one: Dims = { ...dims, modelDim: 1, numHeads: 1, headDim: 1 };
    const config = { posAttType, positionBuckets: null, maxRelativePositions: 4, normRelEbd: false };
    const table = tf.tensor2d(Array.from({ length: 8 }, (_, r) => [r]));
    const layer = deberta.create(parse(config), one).hooks({ table })(positions).layer!(0);
    const site = {
      q: tf.tensor4d(q, [1, 1, length, 1]),
      k: tf.tensor4d(k, [1, 1, length, 1]),
      scoreScale: 1,
      project: (_side, rows) => rows.expandDims(0),
    } as Partial<Site> as Site;
    return { scale: layer.scale as number, bias: layer.bias!(site).arraySync()[0]![0]! };
  }

  test('DeBERTa#51: scores are divided by √(1 + number of terms), ours and the product’s', () => {
    for (const terms of [['c2p'], ['p2c'], ['c2p', 'p2c']] as ('c2p' | 'p2c')[][]) {
      const { scale, bias } = biasOf(terms, [1, 1, 1], [1, 1, 1]);
      expect(scale).toBeCloseTo((1 + terms.length) ** -0.5, 12);
      expect(bias[0]![0]).toBeCloseTo(4 * terms.length * (1 + terms.length) ** -0.5, 6); // row 4 is distance 0
    }
  });

  test('nntrainer#3982: both terms read the row of query − key, whatever the sign', () => {
    const rows = [
      [4, 3, 2],
      [5, 4, 3],
      [6, 5, 4],
    ];
    const [q, k] = [
      [1, 10, 100],
      [1, 1000, 3],
    ];
    const c2p = biasOf(['c2p'], q, k).bias;
    const p2c = biasOf(['p2c'], q, k).bias;
    rows.forEach((row, i) => {
      row.forEach((r, j) => {
        expect(c2p[i]![j]).toBeCloseTo((r * q[i]!) / Math.SQRT2, 3);
        expect(p2c[i]![j]).toBeCloseTo((r * k[j]!) / Math.SQRT2, 2);
      });
    });
  });
});

test('a model whose own scoreScale is 1 divides by √(1 + number of terms) alone', () => {
  const model = (scoreScale?: number) =>
    resolveModel({ vocabSize: 5, modelDim: 6, numLayers: 1, numHeads: 2, causal: false, scoreScale });
  for (const config of [model(), model(1)]) {
    const created = deberta.create(parse({ positionBuckets: 4, maxRelativePositions: 8 }), dimsOf(config));
    expect(createTransformer(config, created).params['encoding.table']!.shape).toEqual([8, 6]);
    expect(
      created.hooks({ table: tf.zeros([8, 6]), normGain: tf.ones([6]), normBias: tf.zeros([6]) })({
        query: range(1),
        key: range(1),
        seqLen: range(1, 1),
      }).layer!(0).scale,
    ).toBeCloseTo(1 / Math.sqrt(3), 12);
  }
});

test('inspect is shown the row of every offset', () => {
  const config = parse({ positionBuckets: 8, maxRelativePositions: 16 });
  const [causal] = deberta.tables!(config, { ...dims, causal: true });
  const [both] = deberta.tables!(config, dims);
  expect(causal).toMatchObject({ quantity: 'bucket', axes: ['offset'], shape: [17], start: [-16] });
  expect([causal!.data[0], causal!.data[16]]).toEqual([15, 8]);
  expect(both).toMatchObject({ shape: [33], start: [-16] });
  expect([both!.data[16], both!.data[17], both!.data[32]]).toEqual([8, 7, 0]);
});
