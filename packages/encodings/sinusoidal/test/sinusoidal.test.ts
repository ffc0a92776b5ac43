import { type Dims, explicit, PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect, test } from 'vitest';
import { sinusoidal, sinusoidalFrequencies, sinusoidalTable } from '../src/index.ts';

const dims: Dims = {
  modelDim: 16,
  embeddingDim: 6,
  numLayers: 2,
  numHeads: 2,
  numKvHeads: 2,
  headDim: 8,
  causal: true,
};
const defaults = sinusoidal.config.parse({});

beforeAll(async () => {
  await tf.setBackend('cpu');
});

test('the defaults are the paper’s', () => {
  expect(defaults).toEqual({
    base: 10000,
    layout: 'interleaved',
    spacing: 'paper',
    offset: 0,
    scale: 1,
    learnable: false,
    combine: 'add',
    into: 'embedding',
  });
});

test.each([
  { bse: 10000 },
  { base: 1 },
  { base: -10 },
  { layout: 'interleave' },
  { spacing: 'fairseq' },
  { offset: 0.5 },
  { scale: 0 },
  { scale: 'sqrtDim' },
  { learnable: 1 },
  { type: 'sinusoidal' },
])('rejects the config %j', (input) => {
  expect(sinusoidal.config.safeParse(input).success).toBe(false);
});

test('its traits and parameters', () => {
  const created = sinusoidal.create(defaults, dims);
  expect(created.traits).toEqual({
    maxPosition: Number.POSITIVE_INFINITY,
    shiftInvariant: false,
    requiresCausal: false,
    readsPositions: true,
    readsSeqLen: false,
  });
  expect(created.params).toEqual({});
});

test('acts at the embedding’s width, each row of a batch at its own positions', () => {
  const query = explicit([
    [0, 1, 2],
    [5, 131072, 7],
  ]);
  const x = tf.ones<tf.Rank.R3>([2, 3, dims.embeddingDim]);
  const hooks = sinusoidal.create(defaults, dims).hooks({})({ query, key: query, seqLen: query });
  expect(hooks.layer).toBeUndefined();
  const y = hooks.embed!(x);
  expect(y.shape).toEqual([2, 3, 6]);
  const table = sinusoidalTable([0, 1, 2, 5, 131072, 7], 6);
  y.dataSync().forEach((value, i) => {
    expect(value).toBeCloseTo(1 + table[i]!, 6);
  });
});

test('one row of positions serves a whole batch; nothing is leaked; the gradient passes unchanged', () => {
  const query = explicit([[3, 4]]);
  const hooks = sinusoidal.create(defaults, dims).hooks({})({ query, key: query, seqLen: query });
  const x = tf.randomNormal<tf.Rank.R3>([4, 2, 6], 0, 1, 'float32', 7);
  const upstream = tf.randomNormal<tf.Rank.R3>([4, 2, 6], 0, 1, 'float32', 8);
  const before = tf.memory().numTensors;
  const y = hooks.embed!(x);
  expect(tf.memory().numTensors).toBe(before + 1);
  expect(y.shape).toEqual([4, 2, 6]);
  const gradient = tf.grad((input) =>
    hooks.embed!(input as tf.Tensor3D)
      .mul(upstream)
      .sum(),
  )(x);
  expect(gradient.dataSync()).toEqual(upstream.dataSync());
});

test('layouts hold the same numbers in another order; spacings do not', () => {
  const sorted = (table: Float64Array) => Array.from(table).sort();
  const positions = [0, 1, 17];
  for (const spacing of ['paper', 'tensor2tensor'] as const)
    expect(sorted(sinusoidalTable(positions, 8, { spacing, layout: 'concatenated' }))).toEqual(
      sorted(sinusoidalTable(positions, 8, { spacing, layout: 'interleaved' })),
    );
  expect(sorted(sinusoidalTable([17], 8, { spacing: 'tensor2tensor' }))).not.toEqual(sorted(sinusoidalTable([17], 8)));
});

test('a row has norm √(D/2), at every position', () => {
  for (const position of [0, 1, 1000, 1_048_576])
    expect(Math.hypot(...sinusoidalTable([position], 128))).toBeCloseTo(Math.sqrt(64), 12);
});

test('the longest wavelength is 2π·base only with tensor2tensor’s spacing', () => {
  const slowest = (spacing: 'paper' | 'tensor2tensor') => 1 / sinusoidalFrequencies(512, { spacing }).at(-1)!;
  expect(slowest('tensor2tensor')).toBeCloseTo(10000, 8);
  expect(slowest('paper')).toBeCloseTo(10000 ** (510 / 512), 8);
});

test('inspect is given the frequencies', () => {
  const [table] = sinusoidal.tables!({ ...defaults, spacing: 'tensor2tensor' }, { ...dims, embeddingDim: 7 });
  expect(table).toMatchObject({ quantity: 'frequency', axes: ['pair'], shape: [3] });
  [1, 0.01, 0.0001].forEach((omega, k) => {
    expect(table!.data[k]).toBeCloseTo(omega, 15);
  });
});

test('a width that holds no position is refused before a model is built', () => {
  const narrow = { ...dims, embeddingDim: 1 };
  expect(() => sinusoidal.create({ ...defaults, spacing: 'tensor2tensor' }, narrow)).toThrow(PosencError);
  expect(() => sinusoidal.create({ ...defaults, spacing: 'tensor2tensor' }, narrow)).toThrow(
    /width of 1 .* at least 2/,
  );
  expect(() => sinusoidalTable([0], 2.5)).toThrow(PosencError);
  expect(sinusoidal.create(defaults, narrow).params).toEqual({});
});

test('scaled: by a number, or by 1/√D', () => {
  const query = explicit([[3, 17]]);
  const zeros = tf.zeros<tf.Rank.R3>([1, 2, 6]);
  const table = sinusoidalTable([3, 17], 6);
  for (const [scale, factor] of [
    [0.5, 0.5],
    ['rsqrtDim', 6 ** -0.5],
  ] as const) {
    const hooks = sinusoidal.create({ ...defaults, scale }, dims).hooks({})({ query, key: query, seqLen: query });
    hooks.embed!(zeros)
      .dataSync()
      .forEach((value, i) => {
        expect(value).toBeCloseTo(factor * table[i]!, 6);
      });
  }
});

test('a learned factor starts where scale says, and its gradient is the table', () => {
  const created = sinusoidal.create({ ...defaults, scale: 'rsqrtDim', learnable: true }, dims);
  expect(created.params).toEqual({ scale: { shape: [1], init: { kind: 'constant', value: 6 ** -0.5 } } });
  const query = explicit([[3, 17]]);
  const upstream = tf.randomNormal<tf.Rank.R3>([1, 2, 6], 0, 1, 'float32', 5);
  const loss = (scale: tf.Tensor) => {
    const hooks = created.hooks({ scale })({ query, key: query, seqLen: query });
    return hooks.embed!(tf.zeros([1, 2, 6]))
      .mul(upstream)
      .sum();
  };
  const table = sinusoidalTable([3, 17], 6);
  const expected = Array.from(upstream.dataSync()).reduce((sum, value, i) => sum + value * table[i]!, 0);
  expect(loss(tf.tensor1d([2])).dataSync()[0]).toBeCloseTo(2 * expected, 5);
  expect(
    tf
      .grad(loss)(tf.tensor1d([2]))
      .dataSync()[0],
  ).toBeCloseTo(expected, 5);
});

test('a product, channel by channel', () => {
  const query = explicit([[0, 9]]);
  const x = tf.tensor3d([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 4]);
  const hooks = sinusoidal.create({ ...defaults, combine: 'multiply' }, { ...dims, embeddingDim: 4 }).hooks({});
  const y = hooks({ query, key: query, seqLen: query }).embed!(x).dataSync();
  const table = sinusoidalTable([0, 9], 4);
  expect(Array.from(y.slice(0, 4))).toEqual([0, 2, 0, 4]); // sines are 0 at position 0
  y.forEach((value, i) => {
    expect(value).toBeCloseTo((i + 1) * table[i]!, 5);
  });
});

test('into queries and keys: infused in every layer, at the width of the model', () => {
  const created = sinusoidal.create({ ...defaults, into: 'queriesAndKeys' }, dims);
  const query = explicit([[1, 4]]);
  const hooks = created.hooks({})({ query, key: query, seqLen: query });
  expect(hooks.embed).toBeUndefined();
  const table = sinusoidalTable([1, 4], dims.modelDim);
  for (const layer of [0, 1])
    hooks.layer!(layer).infuse!(tf.ones([1, 2, dims.modelDim]))
      .dataSync()
      .forEach((value, i) => {
        expect(value).toBeCloseTo(1 + table[i]!, 6);
      });
  const [frequencies] = sinusoidal.tables!({ ...defaults, into: 'queriesAndKeys' }, dims);
  expect(frequencies!.shape).toEqual([dims.modelDim / 2]);
});
