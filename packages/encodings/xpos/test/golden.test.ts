/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { range } from '@posenc/core';
import { applyXpos, type XposOptions, xposDecay, xposTables, xposTensors } from '@posenc/xpos';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { excluded, golden, largestDifference, type Tensor } from './golden.ts';

interface Case {
  readonly id: string;
  readonly config: { readonly head_dim: number; readonly scale_base: number; readonly offset?: number };
  readonly zeta?: readonly number[];
  readonly q: Tensor;
  readonly k: Tensor;
  readonly q_out: Tensor;
  readonly k_out: Tensor;
  readonly scores: Tensor;
}

/** Leading axes become heads. */
function headsOf({ shape, data }: Tensor): Tensor4D {
  const [length, width] = shape.slice(-2) as [number, number];
  return tf.tensor4d(Float32Array.from(data), [1, data.length / (length * width), length, width]);
}

function scaled({ config, q, k }: Case): { q: Tensor4D; k: Tensor4D } {
  const { head_dim: headDim, scale_base: scaleBase, offset = 0 } = config;
  const options: XposOptions = { base: 10000, scaleBase, gamma: 0.4 };
  const [queries, keys] = [headsOf(q), headsOf(k)];
  const length = keys.shape[2];
  const side = (u: Tensor4D, name: 'query' | 'key', start: number) => {
    const seqLen = { rows: 1, cols: u.shape[2], data: new Int32Array(u.shape[2]).fill(length) };
    const tables = xposTables(range(u.shape[2], start), seqLen, headDim, options);
    return applyXpos(u, xposTensors(tables, name), 'interleaved');
  };
  expect(queries.shape[2] + offset).toBe(length);
  return { q: side(queries, 'query', offset), k: side(keys, 'key', 0) };
}

/** ours[…, c] / theirs[…, c] over everything but channels: the factor of each pair, which must not vary. */
function factors(ours: ArrayLike<number>, theirs: readonly number[], width: number): number[] {
  return Array.from({ length: width / 2 }, (_, pair) => {
    const own = (_: number, i: number) => Math.floor((i % width) / 2) === pair;
    const [a, b] = [Array.from(ours).filter(own), theirs.filter(own)];
    const factor = a.reduce((sum, x, i) => sum + x * b[i]!, 0) / b.reduce((sum, x) => sum + x * x, 0);
    expect(
      largestDifference(
        a,
        b.map((x) => factor * x),
      ),
    ).toBeLessThan(2e-6);
    return factor;
  });
}

beforeAll(() => tf.setBackend('cpu'));

describe('xpos.json: torchscale, rotary-embedding-torch, x-transformers', () => {
  const { cases } = golden<{ cases: Case[] }>('xpos.json');
  test('every id is run', () => {
    expect(cases).toHaveLength(9);
    expect(excluded.size).toBe(0);
  });

  describe.each(cases)('$id', (c) => {
    test('scores', () => {
      const { q, k } = scaled(c);
      expect(largestDifference(tf.matMul(q, k, false, true).dataSync(), c.scores.data)).toBeLessThan(2e-6);
    });

    test('queries and keys, but for the centre: a factor per pair on queries, and its inverse on keys', () => {
      const { q, k } = scaled(c);
      const width = c.config.head_dim;
      const onQueries = factors(q.dataSync(), c.q_out.data, width);
      const onKeys = factors(k.dataSync(), c.k_out.data, width);
      onQueries.forEach((factor, pair) => {
        expect(factor * onKeys[pair]!).toBeCloseTo(1, 5);
      });
    });
  });

  test.each(cases.filter(({ zeta }) => zeta))('$id: factors at distance scaleBase', ({ config, zeta }) =>
    expect(largestDifference(xposDecay(config.head_dim, 0.4), zeta!)).toBeLessThan(1e-9),
  );
});

test('64 channels: 0.2857143, 0.6205357, 0.9776786 for pairs 0, 15 and 31', () => {
  const zeta = xposDecay(64, 0.4);
  expect(largestDifference([zeta[0]!, zeta[15]!, zeta[31]!], [0.2857143, 0.6205357, 0.9776786])).toBeLessThan(1e-7);
});
