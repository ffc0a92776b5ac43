import { type Dims, PosencError, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { sandwich, sandwichBias, sandwichFrequencies, sandwichRatios } from '../src/index.ts';

const dims = (numHeads: number, causal = true): Dims => ({
  modelDim: 8,
  embeddingDim: 8,
  numLayers: 2,
  numHeads,
  numKvHeads: 1,
  headDim: 4,
  causal,
});
const at = { query: range(2), key: range(2), seqLen: range(2) };
const defaults = sandwich.config.parse({});

beforeAll(async () => {
  await tf.setBackend('cpu');
});

test('the defaults are the paper’s', () => {
  expect(defaults).toEqual({ dim: 128, base: 10000, spacing: 'paper' });
});

test.each([{ dims: 128 }, { dim: 127 }, { dim: 0 }, { base: 1 }, { spacing: 'tensor2tensor' }, { type: 'sandwich' }])(
  'rejects %j',
  (input) => {
    expect(sandwich.config.safeParse(input).success).toBe(false);
  },
);

test.each([0, 3, 2.5, -2])('a width of %f holds no pairs', (dim) => {
  expect(() => sandwichFrequencies({ dim })).toThrow(PosencError);
  expect(() => sandwich.create({ ...defaults, dim }, dims(2))).toThrow('an even number');
});

test('numbers of the paper for 12 heads: the first and the last, at 1, 2, 16, 128 and 512', () => {
  const bias = sandwichBias(12, [0, 1, 2, 16, 128, 512]);
  const row = (h: number) => Array.from(bias.slice(6 * h, 6 * h + 6));
  [0, -2.85947, -9.92721, -36.44752, -64.05174, -74.93526].forEach((value, i) => {
    expect(row(0)[i]).toBeCloseTo(value, 5);
  });
  [0, -0.23829, -0.82727, -3.03729, -5.33764, -6.24461].forEach((value, i) => {
    expect(row(11)[i]).toBeCloseTo(value, 5);
  });
});

test('NeMo’s sum: −2.16993 where the paper has −2.85947', () => {
  expect(sandwichBias(12, [1], { spacing: 'nemo' })[0]).toBeCloseTo(-2.16993, 5);
});

test('the inner product of two sinusoidal vectors, compressed', () => {
  const vector = (p: number) => Array.from(sandwichFrequencies()).flatMap((w) => [Math.sin(w * p), Math.cos(w * p)]);
  for (const [i, j] of [
    [7, 3],
    [100, 612],
  ] as const) {
    const product = vector(i).reduce((sum, value, k) => sum + value * vector(j)[k]!, 0);
    const bias = sandwichBias(4, [j - i], { constant: false });
    sandwichRatios(4).forEach((ratio, h) => {
      expect(bias[h]).toBeCloseTo(product / ratio, 9);
    });
  }
});

describe('encoding', () => {
  test.each([true, false])('causal %s: no parameters, defined everywhere, the same in both directions', (causal) => {
    const created = sandwich.create(defaults, dims(3, causal));
    expect(created.params).toEqual({});
    expect(created.traits).toEqual({
      maxPosition: Number.POSITIVE_INFINITY,
      shiftInvariant: true,
      requiresCausal: false,
      readsPositions: true,
      readsSeqLen: false,
    });
    const bias = created.hooks({})(at).layer!(0).relativeBias!(Int32Array.of(-9, 0, 9)).arraySync();
    for (const [left, here, right] of bias) {
      expect(here).toBe(0);
      expect(left).toBe(right);
      expect(left).toBeLessThan(-1);
    }
  });

  test('all layers of a forward share one table, other offsets have another', () => {
    const hooks = sandwich.create(defaults, dims(2)).hooks({})(at);
    const bias = (layer: number, offsets: Int32Array) => hooks.layer!(layer).relativeBias!(offsets).dataSync();
    const offsets = Int32Array.of(-3, -1);
    expect(bias(1, offsets)).toEqual(bias(0, offsets));
    expect(Array.from(bias(1, Int32Array.of(-1, -3)))).toEqual([1, 0, 3, 2].map((i) => bias(0, offsets)[i]));
  });

  test('inspect is given frequencies and ratios', () => {
    const tables = sandwich.tables!({ ...defaults, dim: 4, base: 100 }, dims(4));
    expect(tables).toMatchObject([
      { quantity: 'frequency', shape: [2] },
      { quantity: 'value', axes: ['head'], shape: [4], data: Float64Array.of(2, 4, 6, 8) },
    ]);
    expect(tables[0]!.data[1]).toBeCloseTo(0.1, 15);
  });
});
