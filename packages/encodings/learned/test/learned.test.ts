import {
  createParams,
  createTransformer,
  type Dims,
  dimsOf,
  explicit,
  type Grid,
  PosencError,
  range,
  resolveModel,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type LearnedConfig, learned, learnedMaxPosition, untrainedRow } from '../src/index.ts';

const dim = 3;
const dims: Dims = {
  modelDim: 8,
  embeddingDim: dim,
  numLayers: 2,
  numHeads: 2,
  numKvHeads: 2,
  headDim: 4,
  causal: true,
};
const parse = (input: object): LearnedConfig => learned.config.parse(input);

/** [rows, dim] trained weights whose rows are far from any multiple of each other. */
const weights = (rows: number) =>
  tf.tensor2d(
    Float32Array.from({ length: rows * dim }, (_, i) => Math.sin(i * i)),
    [rows, dim],
  );

function embed(input: object, query: Grid, table: tf.Tensor2D, x?: tf.Tensor3D): Float32Array {
  const hooks = learned.create(parse(input), dims).hooks({ table })({ query, key: query, seqLen: query });
  return hooks.embed!(x ?? tf.zeros([query.rows, query.cols, dim])).dataSync<'float32'>();
}

/** Row r of a flat [n, dim] array. */
const row = (values: ArrayLike<number>, r: number) => Array.from(values).slice(r * dim, (r + 1) * dim);

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('config', () => {
  test('defaults are GPT-2’s', () => {
    expect(parse({})).toEqual({
      numPositions: 1024,
      offset: 0,
      initStd: 0.02,
      extend: 'none',
      factor: 1,
      combine: 'add',
      into: 'embedding',
    });
  });

  test.each([
    { numPosition: 8 },
    { numPositions: 0 },
    { numPositions: 1.5 },
    { offset: -1 },
    { initStd: -0.02 },
    { extend: 'linear' },
    { combine: 'concat' },
    { into: 'values' },
    { extend: 'interpolate', factor: 0.5 },
    { type: 'learned' },
  ])('rejects %j', (input) => {
    expect(learned.config.safeParse(input).success).toBe(false);
  });

  test('a factor without extend is refused rather than ignored', () => {
    const { error } = learned.config.safeParse({ factor: 4 });
    expect(error!.issues[0]).toMatchObject({ path: ['factor'], message: expect.stringContaining('set extend to') });
    expect(learned.config.safeParse({ factor: 4, extend: 'untrained' }).success).toBe(true);
  });
});

describe('traits and parameters', () => {
  test.each([
    [{ numPositions: 128 }, 128],
    [{ numPositions: 128, offset: 2 }, 128],
    [{ numPositions: 128, extend: 'untrained', factor: 8 }, 1024],
    [{ numPositions: 128, extend: 'interpolate', factor: 1.5 }, 192],
    [{ numPositions: 10, extend: 'interpolate', factor: 1.27 }, 12],
    [{ numPositions: 100, extend: 'interpolate', factor: 1.15 }, 115],
    [{ numPositions: 1024, extend: 'interpolate', factor: 1024 }, 1_048_576],
  ])('%j is defined below %i', (input, expected) => {
    expect(learnedMaxPosition(parse(input))).toBe(expected);
    expect(learned.create(parse(input), dims).traits).toEqual({
      maxPosition: expected,
      shiftInvariant: false,
      requiresCausal: false,
      readsPositions: true,
      readsSeqLen: false,
    });
  });

  test('the table is as wide as the embedding and the same whatever extends it', () => {
    for (const extension of [{}, { extend: 'untrained', factor: 8 }, { extend: 'interpolate', factor: 8 }])
      expect(learned.create(parse({ numPositions: 6, offset: 2, initStd: 0.1, ...extension }), dims).params).toEqual({
        table: { shape: [8, dim], init: { kind: 'normal', std: 0.1 } },
      });
  });
});

describe('lookup', () => {
  test('each row of a batch reads its own positions, on top of x', () => {
    const table = weights(7);
    const query = explicit([
      [0, 1, 4],
      [4, 4, 2],
    ]);
    const ours = embed({ numPositions: 5, offset: 2 }, query, table, tf.ones([2, 3, dim]));
    const E = table.dataSync();
    query.data.forEach((p, t) => {
      expect(row(ours, t)).toEqual(row(E, p + 2).map((v) => Math.fround(1 + v)));
    });
  });

  test.each([
    [5, 'none', 1],
    [-1, 'none', 1],
    [10, 'untrained', 2],
    [10, 'interpolate', 2],
  ] as const)('position %i with 5 rows, extend %s × %f, is refused before any kernel runs', (p, extend, factor) => {
    const input = { numPositions: 5, offset: 2, extend, factor };
    const call = () => embed(input, explicit([[0, p]]), weights(7));
    expect(call).toThrow(PosencError);
    expect(call).toThrow(new RegExp(`position ${p} is undefined.*0 … ${5 * factor - 1}`));
  });

  test('nothing is leaked', () => {
    const table = weights(5);
    const query = range(5);
    for (const extend of ['none', 'untrained', 'interpolate'] as const) {
      const hooks = learned.create(parse({ numPositions: 5, extend }), dims).hooks({ table });
      const x = tf.zeros<tf.Rank.R3>([1, 5, dim]);
      const before = tf.memory().numTensors;
      hooks({ query, key: query, seqLen: query }).embed!(x);
      expect(tf.memory().numTensors).toBe(before + 1);
    }
  });
});

describe('where and how', () => {
  test('ALBERT: at the width of the embedding, before it is projected to the model’s', () => {
    const model = resolveModel({
      vocabSize: 5,
      modelDim: 8,
      embeddingDim: dim,
      numLayers: 2,
      numHeads: 2,
      embeddingNorm: true,
      tiedEmbeddings: false,
      initStd: 0.4,
    });
    const created = createTransformer(model, learned.create(parse({ numPositions: 5 }), dimsOf(model)));
    expect(created.params['encoding.table']!.shape).toEqual([5, dim]);
    const params = createParams(created.params, 1);
    // With token t at position t, the vector of a position may as well stand in the row of the token.
    const tokens = range(5);
    const logits = (embedding: tf.Tensor, table: tf.Tensor) =>
      created.forward({ ...params, 'embedding.tokens': embedding, 'encoding.table': table }, { tokens }).logits;
    const [embedding, table] = [params['embedding.tokens']!, weights(5)];
    const apart = logits(embedding, table);
    const together = logits(tf.add(embedding, table), tf.zeros([5, dim]));
    expect(tf.max(tf.abs(tf.sub(apart, together))).dataSync()[0]).toBeLessThan(1e-6);
    expect(tf.max(tf.abs(tf.sub(apart, logits(embedding, tf.zeros([5, dim]))))).dataSync()[0]).toBeGreaterThan(0.1);
  });

  test('into queries and keys: infused in every layer, at the width of the model, read once', () => {
    const created = learned.create(parse({ numPositions: 6, into: 'queriesAndKeys' }), dims);
    expect(created.params.table!.shape).toEqual([6, dims.modelDim]);
    const table = tf.randomNormal([6, dims.modelDim], 0, 1, 'float32', 3);
    const query = explicit([[4, 1]]);
    const hooks = created.hooks({ table })({ query, key: query, seqLen: query });
    expect(hooks.embed).toBeUndefined();
    const x = tf.ones<tf.Rank.R3>([2, 2, dims.modelDim]);
    const expected = [4, 1, 4, 1].flatMap((p) =>
      Array.from(table.dataSync().slice(p * dims.modelDim, (p + 1) * dims.modelDim), (v) => Math.fround(1 + v)),
    );
    for (const layer of [0, 1]) {
      expect(Object.keys(hooks.layer!(layer))).toEqual(['infuse']);
      expect(Array.from(hooks.layer!(layer).infuse!(x).dataSync())).toEqual(expected);
    }
  });

  test('multiply: channel by channel, from rows around 1, also where they were never trained', () => {
    const input = { numPositions: 2, combine: 'multiply', initStd: 0.1 };
    expect(learned.create(parse(input), dims).params.table!.init).toEqual({ kind: 'normal', std: 0.1, mean: 1 });
    const x = tf.tensor3d([1, 2, 3, 4, 5, 6], [1, 2, dim]);
    const table = tf.tensor2d([1, 10, 0, -1, 0.5, 2], [2, dim]);
    expect(Array.from(embed(input, range(2), table, x))).toEqual([1, 20, 0, -4, 2.5, 12]);
    const far = embed({ ...input, extend: 'untrained', factor: 3 }, range(1, 5), table, tf.ones([1, 1, dim]));
    expect(Array.from(far)).toEqual(Array.from(untrainedRow(5, dim, 0.1, 1), Math.fround));
    const between = embed(
      { ...input, extend: 'interpolate', factor: 1.5 },
      range(1, 1),
      table,
      tf.fill([1, 1, dim], 2),
    );
    expect(Array.from(between)).toEqual([0, 10.5, 2]);
  });

  test('the gradient of rows read in several layers sums over them', () => {
    const created = learned.create(parse({ numPositions: 2, into: 'queriesAndKeys' }), { ...dims, modelDim: 1 });
    const query = explicit([[1, 1, 0]]);
    const gradient = tf.grad((table) => {
      const hooks = created.hooks({ table })({ query, key: query, seqLen: query });
      const x = tf.zeros<tf.Rank.R3>([1, 3, 1]);
      return [0, 1]
        .map((l) =>
          hooks.layer!(l).infuse!(x)
            .mul(l + 1)
            .sum(),
        )
        .reduce((a, b) => a.add(b));
    })(tf.zeros([2, 1]));
    expect(Array.from(gradient.dataSync())).toEqual([3, 6]);
  });
});

describe('extend', () => {
  test.each(['untrained', 'interpolate'] as const)('%s with factor 1 is the identity, bit for bit', (extend) => {
    const table = weights(130);
    const query = range(130);
    expect(embed({ numPositions: 130, extend }, query, table)).toEqual(embed({ numPositions: 130 }, query, table));
  });

  test('interpolate: 3 rows over 5 positions are rows 0, ½, 1, 1½, 2; offset rows are not part of it', () => {
    const table = weights(5);
    const E = table.dataSync();
    const ours = embed({ numPositions: 3, offset: 2, extend: 'interpolate', factor: 5 / 3 }, range(5), table);
    const middle = (a: number, b: number) => row(E, a).map((v, i) => (v + row(E, b)[i]!) / 2);
    [row(E, 2), middle(2, 3), row(E, 3), middle(3, 4), row(E, 4)].forEach((expected, p) => {
      row(ours, p).forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i]!, 6);
      });
    });
  });

  test('interpolate reaches position 1048576 between the last two rows', () => {
    const table = weights(1024);
    const E = table.dataSync();
    const config = { numPositions: 1024, extend: 'interpolate', factor: 2 ** 10 + 2 ** -10 }; // M = 2^20 + 1
    const ours = embed(config, explicit([[0, 131072, 1_048_576]]), table);
    expect(row(ours, 0)).toEqual(row(E, 0));
    expect(row(ours, 2)).toEqual(row(E, 1023));
    row(ours, 1).forEach((value, i) => {
      expect(value).toBeCloseTo(row(E, 127)[i]! * (1 / 8) + row(E, 128)[i]! * (7 / 8), 6); // 131072 · 1023 / 2^20 = 127 + 7/8
    });
  });

  test('a single trained row serves every position when interpolated', () => {
    const table = weights(1);
    const ours = embed({ numPositions: 1, extend: 'interpolate', factor: 4 }, range(4), table);
    for (let p = 0; p < 4; p++) expect(row(ours, p)).toEqual(row(table.dataSync(), 0));
  });

  test('untrained: rows below N are the trained ones, those from N on depend on the position alone', () => {
    const table = weights(4);
    const config = { numPositions: 4, initStd: 0.5, extend: 'untrained' };
    const ours = embed({ ...config, factor: 2 }, range(8), table);
    for (let p = 0; p < 4; p++) expect(row(ours, p)).toEqual(row(table.dataSync(), p));
    for (let p = 4; p < 8; p++) expect(row(ours, p)).toEqual([...Float32Array.from(untrainedRow(p, dim, 0.5))]);

    const elsewhere = embed(
      { ...config, factor: 50 },
      explicit([
        [150, 2],
        [6, 5],
      ]),
      weights(4),
    );
    expect(row(elsewhere, 2)).toEqual(row(ours, 6));
    expect(row(elsewhere, 3)).toEqual(row(ours, 5));
    expect(row(elsewhere, 0)).not.toEqual(row(elsewhere, 2));
  });

  test('untrained rows are N(0, initStd), independent of each other', () => {
    const n = 200;
    const drawn = Array.from({ length: n }, (_, p) => Array.from(untrainedRow(1_048_576 + p, 50, 0.02)));
    const all = drawn.flat();
    const mean = all.reduce((a, b) => a + b) / all.length;
    const std = Math.sqrt(all.reduce((a, b) => a + (b - mean) ** 2, 0) / all.length);
    expect(Math.abs(mean)).toBeLessThan((4 * 0.02) / Math.sqrt(all.length)); // four standard errors
    expect(Math.abs(std / 0.02 - 1)).toBeLessThan(4 / Math.sqrt(2 * all.length));
    const neighbours = drawn.slice(1).flatMap((r, p) => r.map((v, i) => (v * drawn[p]![i]!) / 0.02 ** 2));
    const correlation = neighbours.reduce((a, b) => a + b) / neighbours.length;
    expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(neighbours.length));
  });
});

describe('gradient of the table: what was read, as often as it was read', () => {
  const upstream = [1, -2, 3, 5, 7, -11, 13, 17, 19];
  const query = explicit([[1, 1, 3]]);

  function gradient(input: object, query: Grid, rows: number): Float32Array {
    const hooks = learned.create(parse(input), dims).hooks;
    const at = { query, key: query, seqLen: query };
    const x = tf.zeros<tf.Rank.R3>([1, query.cols, dim]);
    const weighted = (table: tf.Tensor) =>
      hooks({ table })(at).embed!(x)
        .mul(tf.tensor3d(upstream, [1, 3, dim]))
        .sum();
    return tf.grad(weighted)(weights(rows)).dataSync<'float32'>();
  }

  test('none', () => {
    // rows 0–1 are the offset; positions 1, 1, 3 are rows 3, 3, 5
    expect(Array.from(gradient({ numPositions: 4, offset: 2 }, query, 6))).toEqual([
      ...[0, 0, 0, 0, 0, 0, 0, 0, 0],
      ...[1 + 5, -2 + 7, 3 - 11],
      ...[0, 0, 0],
      ...[13, 17, 19],
    ]);
  });

  test('untrained: nothing flows into the last trained row from positions beyond it', () => {
    expect(Array.from(gradient({ numPositions: 2, extend: 'untrained', factor: 2 }, query, 2))).toEqual([
      ...[0, 0, 0],
      ...[1 + 5, -2 + 7, 3 - 11],
    ]);
  });

  test('interpolate: shared between the neighbours by weight', () => {
    // 3 rows over 5 positions: position 1 is half of rows 0 and 1, position 3 half of rows 1 and 2
    const input = { numPositions: 3, extend: 'interpolate', factor: 5 / 3 };
    expect(Array.from(gradient(input, query, 3))).toEqual([
      ...[3, 2.5, -4],
      ...[3 + 6.5, 2.5 + 8.5, -4 + 9.5],
      ...[6.5, 8.5, 9.5],
    ]);
  });
});
