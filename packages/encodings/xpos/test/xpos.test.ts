import {
  createRegistry,
  createTransformer,
  type Dims,
  dimsOf,
  explicit,
  type Grid,
  range,
  resolveModel,
} from '@posenc/core';
import { applyXpos, type XposConfig, xpos, xposMaxPosition, xposTables, xposTensors } from '@posenc/xpos';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { largestDifference } from './golden.ts';

beforeAll(() => tf.setBackend('cpu'));

const registry = createRegistry([xpos]);
const dims = (headDim: number): Dims => ({
  modelDim: 16,
  embeddingDim: 16,
  numLayers: 1,
  numHeads: 2,
  numKvHeads: 2,
  headDim,
  causal: true,
});
const constant = (value: number, cols: number): Grid => ({ rows: 1, cols, data: new Int32Array(cols).fill(value) });
const random = (shape: [number, number, number, number], seed: number): Tensor4D =>
  tf.randomNormal(shape, 0, 1, 'float32', seed);

/** Scores of queries and keys at these positions, told this length. */
function scores(options: Partial<XposConfig>, q: Tensor4D, k: Tensor4D, positions: Grid, length: number): Float32Array {
  const created = xpos.create(xpos.config.parse(options), dims(q.shape[3]));
  const at = { query: positions, key: positions, seqLen: constant(length, positions.cols) };
  const rotate = created.hooks({})(at).layer!(0).rotate!;
  return tf.matMul(rotate(q, 'query'), rotate(k, 'key'), false, true).dataSync() as Float32Array;
}

describe('config', () => {
  it('fills in the defaults of the authors’ code', () =>
    expect(registry.parse({ type: 'xpos' })).toEqual({
      type: 'xpos',
      base: 10000,
      scaleBase: 512,
      gamma: 0.4,
      pairing: 'interleaved',
    }));

  it.each([
    [{ scaleBase: 0 }, '"scaleBase" is 0'],
    [{ gamma: -1 }, '"gamma" is -1'],
    [{ base: 0.5 }, '"base" is 0.5: must be at least 1'],
    [{ scalebase: 1 }, 'unknown key "scalebase": did you mean "scaleBase"?'],
  ])('refuses %j', (options, words) => expect(() => registry.parse({ type: 'xpos', ...options })).toThrow(words));

  it('refuses an odd head and a bidirectional stack', () => {
    const parsed = registry.parse({ type: 'xpos' });
    expect(() => registry.create(parsed, dims(7))).toThrow('headDim is 7, but channels turn in pairs');
    expect(() => registry.create(parsed, { ...dims(8), causal: false })).toThrow('needs a causal stack');
    const model = resolveModel({ vocabSize: 3, modelDim: 8, numLayers: 1, numHeads: 1, causal: false });
    expect(() => createTransformer(model, xpos.create(xpos.config.parse({}), dimsOf(model)))).toThrow('causal');
  });
});

describe('decay', () => {
  it('the product of one pair at distance scaleBase is RoPE’s times its factor', () => {
    // One pair, so both channels of u turn together; u turned by 512 radians stays as long.
    const u = tf.tensor4d([1, 0, 1, 0], [1, 1, 2, 2]);
    const product = scores({}, u, u, explicit([[0, 512]]), 513)[2]!; // query at 512, key at 0
    expect(product).toBeCloseTo(Math.cos(512) * (0.4 / 1.4), 6);
  });

  it('rotary-embedding-torch 2605ece: at the centre the scale is a power of two, and 1 at length 1', () => {
    const { query } = xposTables(range(1), constant(1, 1), 8, { base: 10000, scaleBase: 512, gamma: 0.4 });
    expect(Array.from(query.cos)).toEqual([1, 1, 1, 1]);
  });

  it('half and interleaved pairing turn the same pairs, laid out otherwise', () => {
    const [q, k] = [random([1, 2, 5, 8], 1), random([1, 2, 5, 8], 2)];
    const order = tf.tensor1d([0, 2, 4, 6, 1, 3, 5, 7], 'int32');
    const laidOut = (u: Tensor4D) => tf.gather(u, order, 3);
    const interleaved = scores({}, q, k, range(5), 5);
    const half = scores({ pairing: 'half' }, laidOut(q), laidOut(k), range(5), 5);
    expect(largestDifference(half, interleaved)).toBeLessThan(1e-6);
  });
});

describe('the centre', () => {
  const [q, k] = [random([1, 2, 6, 8], 3), random([1, 2, 6, 8], 4)];
  const positions = explicit([[0, 1, 2, 700, 701, 2000]]);

  it('cancels to the last bit: any length gives the same scores', () => {
    const short = scores({}, q, k, positions, 2001);
    for (const length of [1, 777, 4096, 28000, 1 << 20]) expect(scores({}, q, k, positions, length)).toEqual(short);
  });

  it('keeps queries and keys of a long sequence near their own size', () => {
    const length = 28000;
    const options = { base: 10000, scaleBase: 512, gamma: 0.4 };
    const tables = xposTables(explicit([[0, length - 1]]), constant(length, 2), 64, options);
    const largest = Math.max(...tables.query.cos.map(Math.abs), ...tables.key.cos.map(Math.abs));
    expect(largest).toBeLessThan(2 ** 51);
    const uncentred = xposTables(explicit([[0, length - 1]]), constant(1, 2), 64, options);
    expect(Math.max(...uncentred.key.cos.map(Math.abs))).toBeGreaterThan(2 ** 90);
  });
});

describe('where float32 ends', () => {
  const options = { base: 10000, scaleBase: 512, gamma: 0.4 };

  it('maxPosition grows with scaleBase and gamma', () => {
    expect(xposMaxPosition(options)).toBe(28328);
    expect(xposMaxPosition({ ...options, scaleBase: 2048 })).toBe(113314);
    expect(xposMaxPosition({ ...options, gamma: 1 })).toBe(51200);
    expect(registry.create(registry.parse({ type: 'xpos' }), dims(8)).traits.maxPosition).toBe(28328);
  });

  it('up to it, scores of neighbours are right, even told no length', () => {
    const [q, k] = [random([1, 1, 3, 8], 5), random([1, 1, 3, 8], 6)];
    const near = scores({}, q, k, range(3), 3);
    const far = scores({}, q, k, range(3, 28328 - 3), 1);
    expect(largestDifference(far, near)).toBeLessThan(1e-5);
  });

  it('the factor on keys leaves float32 a quarter further on: in float32 it would be infinite', () => {
    const at = (position: number) => Math.fround((1.4 / 0.4) ** (position / 512));
    expect(at(28328)).toBeLessThanOrEqual(2 ** 100);
    expect(at(1.29 * 28328)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is checked before any kernel runs', () => {
    const model = resolveModel({ vocabSize: 3, modelDim: 8, numLayers: 1, numHeads: 1 });
    const { forward } = createTransformer(model, xpos.create(xpos.config.parse({}), dimsOf(model)));
    const input = { tokens: explicit([[0]]), positions: explicit([[28328]]) };
    expect(() => forward({}, input)).toThrow('position 28328 is beyond this encoding: it is defined for 0 to 28327');
  });
});

it('tables are shown, and nothing is left behind', () => {
  const [turns, factor] = xpos.tables!(xpos.config.parse({}), dims(4));
  expect(Array.from(turns!.data)).toEqual([1, 0.01]);
  expect(factor).toMatchObject({ name: 'factor at distance 512', quantity: 'value', shape: [2] });
  expect(largestDifference(factor!.data, [0.4 / 1.4, 0.9 / 1.4])).toBeLessThan(1e-15);
  const u = random([1, 1, 2, 4], 7);
  const before = tf.memory().numTensors;
  tf.tidy(() => {
    const tables = xposTables(range(2), constant(2, 2), 4, { base: 10000, scaleBase: 512, gamma: 0.4 });
    applyXpos(u, xposTensors(tables, 'key'), 'half');
  });
  expect(tf.memory().numTensors).toBe(before);
});
