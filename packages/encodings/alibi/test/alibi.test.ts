import {
  attention,
  createMask,
  type Dims,
  explicit,
  HIDDEN,
  PosencError,
  planOffsets,
  range,
  type Site,
} from '@posenc/core';
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
    expect(parse({})).toEqual({
      maxBias: 8,
      slopes: 'press',
      bidirectional: 'symmetric',
      scaled: false,
      precision: 'exact',
      learnable: false,
    });
  });

  test.each([
    { maxBais: 8 },
    { maxBias: 0 },
    { slopes: 'paper' },
    { slopes: [] },
    { slopes: [0.5, -0.5] },
    { slopes: [Number.NaN] },
    { learnable: 'yes' },
    { bidirectional: true },
    { precision: 'float16' },
    { precision: 'bfloat16', learnable: true },
    { precision: 'bfloat16', bidirectional: 'halfSlope' },
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

describe('directions of a bidirectional stack', () => {
  const bias = (input: object, numHeads: number, causal = false) => {
    const created = alibi.create(parse(input), dims(numHeads, causal));
    const start = created.params.logSlopes?.init;
    const params: Record<string, tf.Tensor> =
      start?.kind === 'values' ? { logSlopes: tf.tensor1d([...start.values]) } : {};
    const offsets = Int32Array.of(-2, -1, 0, 1, 2);
    return created.hooks(params)(at).layer!(0).relativeBias!(offsets).arraySync();
  };
  const close = (rows: readonly (readonly number[])[], expected: readonly (readonly number[])[]) => {
    expect(rows.map((row) => row.length)).toEqual(expected.map((row) => row.length));
    expected.flat().forEach((value, i) => {
      expect(rows.flat()[i]! / (value || 1)).toBeCloseTo(value && 1, 6);
    });
  };
  const [left, right] = [
    (m: number) => [-2 * m, -m, 0, HIDDEN, HIDDEN],
    (m: number) => [HIDDEN, HIDDEN, 0, -m, -2 * m],
  ];

  test.each([false, true])(
    'asymmetric: half of the heads see left, half right, with the same slopes (learnable %s)',
    (learnable) => {
      const [steep, gentle] = [1 / 16, 1 / 256]; // the slopes of two heads
      close(bias({ bidirectional: 'asymmetric', learnable }, 4), [
        left(steep),
        left(gentle),
        right(steep),
        right(gentle),
      ]);
      close(bias({ bidirectional: 'asymmetric', learnable }, 3), [left(steep), left(gentle), right(1 / 256)]);
    },
  );

  test('asymmetric, listed slopes: one per head, as they are', () => {
    close(bias({ bidirectional: 'asymmetric', slopes: [1, 0.5] }, 2), [left(1), right(0.5)]);
  });

  test.each([false, true])('half a slope less before the query (learnable %s)', (learnable) => {
    const row = (m: number) => [-1.5 * m, -0.5 * m, 0, -m, -2 * m];
    close(bias({ bidirectional: 'halfSlope', learnable }, 2), [row(1 / 16), row(1 / 256)]);
  });

  test.each(['asymmetric', 'halfSlope'])('%s means nothing in a causal stack', (bidirectional) => {
    expect(bias({ bidirectional }, 4, true)).toEqual(bias({}, 4, true));
  });

  test('a head that looks one way gives the other no weight', () => {
    const created = alibi.create(parse({ bidirectional: 'asymmetric' }), dims(2, false));
    const [positions, hooks] = [range(3), created.hooks({})({ query: range(3), key: range(3), seqLen: range(3) })];
    const zeros = tf.zeros<tf.Rank.R4>([1, 2, 3, 4]);
    const weights = attention(
      zeros,
      zeros,
      tf.mul(tf.ones([1, 2, 1, 1]), tf.eye(3).reshape([1, 1, 3, 3])),
      hooks.layer!(0),
      {
        mask: createMask({ causal: false, numQueries: 3, numKeys: 3 }),
        scoreScale: 0.5,
        offsets: planOffsets(positions, positions),
      },
    );
    const seen = Array.from(weights.dataSync(), (weight) => (weight > 0 ? 1 : 0));
    expect(seen).toEqual([1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1]);
  });

  test('tables: a slope per token where it is one, else a value', () => {
    const table = (input: object, causal: boolean) => alibi.tables!(parse(input), dims(4, causal))[0]!;
    expect(table({ bidirectional: 'asymmetric' }, true)).toMatchObject({ quantity: 'slope', data: alibiSlopes(4) });
    expect(table({ bidirectional: 'asymmetric' }, false)).toMatchObject({
      quantity: 'value',
      data: Float64Array.of(1 / 16, 1 / 256, 1 / 16, 1 / 256),
    });
    expect(table({ bidirectional: 'halfSlope' }, false).quantity).toBe('value');
    expect(table({ scaled: true }, false)).toMatchObject({ quantity: 'slope', data: alibiSlopes(4).map((m) => m / 2) });
  });
});

describe('Falcon', () => {
  test('scaled: divided by √headDim, as the scores are', () => {
    const row = (input: object) =>
      alibi.create(parse(input), dims(3)).hooks({})(at).layer!(0).relativeBias!(Int32Array.of(-300, -1)).dataSync();
    expect(Array.from(row({ scaled: true }))).toEqual(Array.from(row({}), (value) => value / 2));
  });

  test('rounded by position: causal only, and it matters where the tokens stand', () => {
    expect(alibi.create(parse({ precision: 'bfloat16' }), dims(4)).traits).toMatchObject({
      shiftInvariant: false,
      requiresCausal: true,
    });
    const bias = (start: number) => {
      const positions = range(3, start);
      const hooks = alibi.create(parse({ precision: 'bfloat16' }), dims(1)).hooks({})({
        query: positions,
        key: positions,
        seqLen: positions,
      });
      return Array.from(hooks.layer!(1).bias!({} as Site).dataSync(), (value) => 256 * value + 0);
    };
    expect(bias(0)).toEqual([0, 1, 2, -1, 0, 1, -2, -1, 0]);
    expect(bias(256)).toEqual([0, 0, 2, 0, 0, 2, -2, -2, 0]); // 257 is 256 in bfloat16
  });

  test('one table for all layers, no tensor leaked', () => {
    const created = alibi.create(parse({ precision: 'bfloat16' }), dims(2));
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      const hooks = created.hooks({})(at);
      expect(hooks.layer!(1).bias!({} as Site)).toBe(hooks.layer!(0).bias!({} as Site));
    });
    expect(tf.memory().numTensors).toBe(before);
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
