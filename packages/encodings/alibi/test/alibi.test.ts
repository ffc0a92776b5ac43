import { type Dims, explicit, PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AlibiConfig, alibi, alibiBias, alibiSlopes } from '../src/index.ts';

const dims = (numHeads: number, causal = true): Dims => ({
  modelDim: 4 * numHeads,
  embeddingDim: 4 * numHeads,
  numLayers: 2,
  numHeads,
  numKvHeads: 1,
  headDim: 4,
  causal,
});
const parse = (input: object): AlibiConfig => alibi.config.parse(input);
const query = explicit([[9, 2, 2]]);
const at = { query, key: query, seqLen: query };

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('config', () => {
  test('defaults are the authors’ code', () => {
    expect(parse({})).toEqual({ maxBias: 8, slopes: 'press', learnable: false });
  });

  test.each([
    { maxBais: 8 },
    { maxBias: 0 },
    { slopes: 'paper' },
    { slopes: [] },
    { slopes: [0.5, -0.5] },
    { slopes: [Number.NaN] },
    { learnable: 'yes' },
    { type: 'alibi' },
  ])('rejects %j', (input) => {
    expect(alibi.config.safeParse(input).success).toBe(false);
  });

  test('a slope of 0 is allowed, but has no logarithm to train', () => {
    expect(alibi.config.safeParse({ slopes: [0.5, 0] }).success).toBe(true);
    const { error } = alibi.config.safeParse({ slopes: [0.5, 0], learnable: true });
    expect(error!.issues[0]).toMatchObject({ path: ['slopes'], message: expect.stringContaining('above 0') });
  });
});

describe('slopes', () => {
  test('equal MPT’s construction for every head count from 1 to 128', () => {
    for (const maxBias of [8, 16])
      for (let heads = 1; heads <= 128; heads++) {
        const all = 2 ** Math.ceil(Math.log2(heads));
        const m = Array.from({ length: all }, (_, i) => 1 / 2 ** (((i + 1) * maxBias) / all));
        const odd = m.filter((_, i) => i % 2 === 1);
        const even = m.filter((_, i) => i % 2 === 0);
        const expected = (all === heads ? m : [...odd, ...even]).slice(0, heads);
        const ours = alibiSlopes(heads, { maxBias });
        expect(ours.length).toBe(heads);
        ours.forEach((slope, h) => {
          expect(Math.abs(slope / expected[h]! - 1)).toBeLessThan(1e-14);
        });
      }
  });

  test('geometric is the plain sequence for any head count; with 12 heads it starts at 2^(−2/3)', () => {
    const slopes = alibiSlopes(12, { slopes: 'geometric' });
    expect(slopes[0]).toBeCloseTo(0.629960525, 9);
    expect(slopes[11]).toBe(2 ** -8);
    slopes.slice(1).forEach((slope, h) => {
      expect(slope / slopes[h]!).toBeCloseTo(slopes[0]!, 12);
    });
    expect(alibiSlopes(8, { slopes: 'geometric' })).toEqual(alibiSlopes(8));
  });

  test('a list is used as it is, and must have one slope per head', () => {
    expect(Array.from(alibiSlopes(3, { slopes: [1, 0, 0.25] }))).toEqual([1, 0, 0.25]);
    const create = () => alibi.create(parse({ slopes: [1, 0.5, 0.25] }), dims(4));
    expect(create).toThrow(PosencError);
    expect(create).toThrow('slopes lists 3 numbers for 4 heads; give one per head');
  });

  test.each([0, -1, 2.5, Number.NaN])('%f heads are refused', (heads) => {
    expect(() => alibiSlopes(heads)).toThrow(PosencError);
  });

  test('inspect is given the slopes', () => {
    expect(alibi.tables!(parse({ maxBias: 4 }), dims(2))).toEqual([
      { name: 'slope', quantity: 'slope', axes: ['head'], shape: [2], data: Float64Array.of(0.25, 0.0625) },
    ]);
  });
});

describe('encoding', () => {
  test.each([
    [{}, true],
    [{}, false],
    [{ learnable: true }, true],
    [{ slopes: 'geometric' }, false],
  ])('%j (causal: %s): defined everywhere, shift invariant, both directions', (input, causal) => {
    expect(alibi.create(parse(input), dims(4, causal)).traits).toEqual({
      maxPosition: Number.POSITIVE_INFINITY,
      shiftInvariant: true,
      requiresCausal: false,
      readsPositions: true,
      readsSeqLen: false,
    });
  });

  test('every layer gets −m·|offset|, one row per head', () => {
    const hooks = alibi.create(parse({}), dims(3)).hooks({})(at);
    expect(hooks.embed).toBeUndefined();
    const offsets = Int32Array.of(-300, -1, 0, 1, 300);
    for (const layer of [0, 1]) {
      expect(Object.keys(hooks.layer!(layer))).toEqual(['relativeBias']);
      const bias = hooks.layer!(layer).relativeBias!(offsets);
      expect(bias.shape).toEqual([3, 5]);
      const expected = [1 / 16, 1 / 256, 1 / 4].flatMap((m) => [300, 1, 0, 1, 300].map((d) => 0 - m * d));
      expect(Array.from(bias.dataSync(), (v) => v + 0)).toEqual(expected);
      expect(Array.from(alibiBias(alibiSlopes(3), offsets), (v) => v + 0)).toEqual(expected);
    }
  });
});

describe('learnable', () => {
  const created = alibi.create(parse({ learnable: true }), dims(4));
  const spec = created.params.logSlopes!;
  const start = spec.init.kind === 'values' ? spec.init.values : [];
  const offsets = Int32Array.of(-1_048_576, -7, 0, 3);
  const bias = (logSlopes: tf.Tensor) => created.hooks({ logSlopes })(at).layer!(1).relativeBias!(offsets);

  test('starts at the fixed slopes', () => {
    expect(spec.shape).toEqual([4]);
    const expected = alibiBias(alibiSlopes(4), offsets);
    bias(tf.tensor1d([...start]))
      .dataSync()
      .forEach((value, i) => {
        expect(Math.abs(value - expected[i]!)).toBeLessThanOrEqual(1e-6 * Math.abs(expected[i]!));
      });
  });

  test('stays a penalty wherever training takes the parameter', () => {
    const values = bias(tf.tensor1d([-30, -1, 0, 4])).dataSync();
    values.forEach((value, i) => {
      if (offsets[i % 4] === 0) expect(Math.abs(value)).toBe(0);
      else expect(value).toBeLessThan(0);
    });
  });

  test('its gradient is −m·|offset| summed with what comes from above, and 0 at distance 0', () => {
    const near = Int32Array.of(-7, 0, 3);
    const upstream = [
      [1, 5, 0.5],
      [-2, 5, 0],
      [0, 1, 0], // distance 0 alone
      [0.25, 0, 4],
    ];
    const loss = (logSlopes: tf.Tensor) =>
      created.hooks({ logSlopes })(at).layer!(0).relativeBias!(near).mul(tf.tensor2d(upstream)).sum();
    const gradient = tf
      .grad(loss)(tf.tensor1d([...start]))
      .dataSync();
    alibiSlopes(4).forEach((slope, h) => {
      const [left, , right] = upstream[h]!;
      const expected = -slope * (7 * left! + 3 * right!);
      expect(Math.abs(gradient[h]! - expected)).toBeLessThan(1e-6);
    });
  });

  test('no tensor is leaked, fixed or learnable', () => {
    const logSlopes = tf.tensor1d([...start]);
    const fixed = alibi.create(parse({}), dims(4)).hooks({})(at).layer!(0);
    const before = tf.memory().numTensors;
    bias(logSlopes);
    fixed.relativeBias!(offsets);
    expect(tf.memory().numTensors).toBe(before + 2);
  });
});
