/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { explicit, fromMask, type Grid, range, sliceColumns } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { interpolatedRow, learned } from '../src/index.ts';
import { excluded, golden, largestDifference, type Tensor } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly weight: Tensor;
  readonly out: Tensor;
  readonly offset: number;
  readonly cache_length: number;
  readonly length: number;
  readonly attention_mask?: Tensor;
  readonly padding_idx: number;
  readonly tokens: Tensor;
  readonly positions: Tensor;
  readonly l2norm: boolean;
  readonly seq_start_pos: readonly number[];
  readonly out_with_start: Tensor;
}

const gridOf = ({ shape, data }: Tensor): Grid => ({ rows: shape[0]!, cols: shape[1]!, data: Int32Array.from(data) });

/** Rows of `table` that the embed hook adds at these positions, [B, T, D] flat. */
function lookUp(query: Grid, table: Tensor, offset: number): Float32Array {
  const [rows, dim] = table.shape as [number, number];
  const config = learned.config.parse({ numPositions: rows - offset, offset });
  const created = learned.create(config, {
    modelDim: dim,
    embeddingDim: dim,
    numLayers: 1,
    numHeads: 1,
    numKvHeads: 1,
    headDim: dim,
    causal: true,
  });
  expect(created.params.table!.shape).toEqual(table.shape);
  const hooks = created.hooks({ table: tf.tensor2d([...table.data], [rows, dim]) });
  const x = tf.zeros<tf.Rank.R3>([query.rows, query.cols, dim]);
  return hooks({ query, key: query, seqLen: query }).embed!(x).dataSync<'float32'>();
}

const float32 = (values: readonly number[]) => Float32Array.from(values);

const runners: Record<string, (c: Case) => void> = {
  /** Padded tokens read row 1 there; here padding is masked, so only real tokens are compared. */
  opt(c) {
    const mask = gridOf(c.attention_mask!);
    const query = sliceColumns(fromMask(mask), c.cache_length, mask.cols);
    const real = sliceColumns(mask, c.cache_length, mask.cols);
    const dim = c.weight.shape[1]!;
    const pick = (table: ArrayLike<number>) =>
      Array.from(real.data).flatMap((keep, t) =>
        keep ? Array.from({ length: dim }, (_, i) => table[t * dim + i]!) : [],
      );
    expect(c.out.shape).toEqual([query.rows, query.cols, dim]);
    expect(pick(lookUp(query, c.weight, c.offset))).toEqual(pick(float32(c.out.data)));
  },
  bart(c) {
    const query = range(c.length, c.cache_length);
    expect(lookUp(query, c.weight, c.offset)).toEqual(float32(c.out.data));
  },
  /** Row numbers of real tokens: a table whose row r holds r itself. */
  'position-ids'(c) {
    const tokens = gridOf(c.tokens);
    const real = { ...tokens, data: tokens.data.map((token) => (token === c.padding_idx ? 0 : 1)) };
    const counted = fromMask(real);
    const query = { ...counted, data: counted.data.map((p) => p + c.cache_length) };
    const identity = { shape: [16, 1], data: Array.from({ length: 16 }, (_, row) => row) };
    const rows = lookUp(query, identity, c.padding_idx + 1);
    const pick = (values: ArrayLike<number>) => Array.from(real.data).flatMap((keep, t) => (keep ? [values[t]!] : []));
    expect(pick(rows)).toEqual(pick(c.positions.data));
  },
  /** That library scales or normalises the table before the lookup; a caller of ours does the same to its weights. */
  'x-transformers'(c) {
    const [rows, dim] = c.weight.shape as [number, number];
    const norm = (row: number) => Math.hypot(...c.weight.data.slice(row * dim, (row + 1) * dim));
    const factor = (row: number) => (c.l2norm ? 1 / norm(row) : dim ** -0.5);
    const table = { shape: [rows, dim], data: c.weight.data.map((v, i) => v * factor(Math.floor(i / dim))) };
    expect(largestDifference(lookUp(range(c.length), table, 0), c.out.data)).toBeLessThan(1e-7);
    const shifted = explicit(
      c.seq_start_pos.map((start) => Array.from({ length: c.length }, (_, t) => Math.max(t - start, 0))),
    );
    expect(largestDifference(lookUp(shifted, table, 0), c.out_with_start.data)).toBeLessThan(1e-7);
  },
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('learned-positions.json: lookups of the libraries', () => {
  const { cases } = golden<{ cases: Case[] }>('learned-positions.json');
  test('every id is run or excluded, never both', () => {
    expect(cases.length).toBe(8);
    for (const c of cases) expect([c.id, c.kind in runners]).toEqual([c.id, !excluded.has(c.id)]);
  });
  test.each(cases.filter((c) => c.kind in runners))('$id', (c) => runners[c.kind]!(c));
});

describe('exact.json: interpolated rows in rational arithmetic', () => {
  interface Exact {
    readonly id: string;
    readonly numPositions: number;
    readonly maxPosition: number;
    readonly rows: { position: number; low: number; weight: number }[];
  }
  const { cases } = golden<{ cases: Exact[] }>('exact.json');
  test.each(cases)('$id', ({ numPositions, maxPosition, rows }) => {
    for (const { position, low, weight } of rows) {
      const ours = interpolatedRow(position, numPositions, maxPosition);
      expect(ours.low).toBe(low);
      expect(ours.high).toBe(Math.min(low + 1, numPositions - 1));
      expect(Math.abs(ours.weight - weight)).toBeLessThan(2e-13); // row numbers below 2^11 in float64
    }
  });
});
