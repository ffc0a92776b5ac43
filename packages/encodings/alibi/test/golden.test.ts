/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { at, type Dims, explicit, fromMask, type Grid, range, type Site } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AlibiConfig, alibi, alibiBias, alibiSlopes } from '../src/index.ts';
import { golden, largestDifference, type Tensor, testCases } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly heads: number;
  readonly slopes: readonly number[];
  readonly alibi_bias_max?: number;
  readonly falcon_bfloat16_slopes?: readonly number[];
  readonly bias: Tensor;
  readonly attention_mask?: Tensor;
  readonly total_heads?: number;
  readonly query_positions?: Tensor;
  readonly key_positions?: Tensor;
  readonly head_dim: number;
  readonly keep: Tensor;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly scores: Tensor;
  readonly probs: Tensor;
  readonly w_o: Tensor;
  readonly b_o?: readonly number[];
  readonly out: Tensor;
}

const gridOf = ({ shape, data }: Tensor): Grid => ({ rows: shape[0]!, cols: shape[1]!, data: Int32Array.from(data) });
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

const dims = (heads: number, headDim: number, causal: boolean): Dims => ({
  modelDim: heads * headDim,
  embeddingDim: heads * headDim,
  numLayers: 1,
  numHeads: heads,
  numKvHeads: heads,
  headDim,
  causal,
});

function biasOf(heads: number, options: Partial<AlibiConfig>): (offsets: Int32Array) => Float32Array {
  const none = range(1);
  const created = alibi.create(alibi.config.parse(options), dims(heads, 1, false));
  const hooks = created.hooks({})({ query: none, key: none, seqLen: none });
  return (offsets) => hooks.layer!(0).relativeBias!(offsets).dataSync<'float32'>();
}

/** Falcon’s numbers, as its encoding gives them: [B, H, Tq, Tk] flat. */
function falconBias(query: Grid, key: Grid, heads: number, headDim: number, scaled: boolean): number[] {
  const config = alibi.config.parse({ precision: 'bfloat16', scaled });
  const hooks = alibi.create(config, dims(heads, headDim, true)).hooks({})({ query, key, seqLen: query });
  const bias = hooks.layer!(0).bias!({} as Site);
  expect(bias.shape).toEqual([Math.max(query.rows, key.rows), heads, query.cols, key.cols]);
  return Array.from(bias.dataSync());
}

/** The relativeBias hook's number for every batch row, head, query and key: [B, H, Tq, Tk] flat. */
function biasBetween(query: Grid, key: Grid, heads: number, options: Partial<AlibiConfig> = {}): number[] {
  const batch = upTo(Math.max(query.rows, key.rows));
  const offsets = batch.flatMap((b) =>
    upTo(query.cols).flatMap((i) => upTo(key.cols).map((j) => at(key, b, j) - at(query, b, i))),
  );
  const row = biasOf(heads, options)(Int32Array.from(offsets));
  const area = query.cols * key.cols;
  return batch.flatMap((b) =>
    upTo(heads).flatMap((h) => upTo(area).map((ij) => row[h * offsets.length + b * area + ij]!)),
  );
}

function runSlopes(c: Case): void {
  const slopes = alibiSlopes(c.heads, { maxBias: c.alibi_bias_max ?? 8 });
  const pairs: [ArrayLike<number>, readonly number[]][] = [[slopes, c.slopes]];
  if (c.falcon_bfloat16_slopes) {
    const config = alibi.config.parse({ precision: 'bfloat16' });
    pairs.push([alibi.tables!(config, dims(c.heads, 1, true))[0]!.data, c.falcon_bfloat16_slopes]);
  }
  for (const [ours, theirs] of pairs) {
    expect(ours.length).toBe(c.heads);
    theirs.forEach((slope, h) => {
      expect(Math.abs(ours[h]! / slope - 1)).toBeLessThan(1e-8); // nine digits are printed
    });
  }
}

/**
 * These libraries give each key a number m·j that is the same for every query. Ours differs from it by one constant per
 * row: over the keys a query may see, differences to the query's own key must agree.
 */
function runKeyBias(c: Case): void {
  const keys = c.bias.shape[3]!;
  const mask: Grid = c.attention_mask
    ? gridOf(c.attention_mask)
    : { rows: 1, cols: keys, data: new Int32Array(keys).fill(1) };
  const positions = fromMask(mask);
  const ours = c.id.startsWith('falcon')
    ? falconBias(positions, positions, c.heads, 1, false)
    : biasBetween(positions, positions, c.heads);
  let compared = 0;
  for (const b of upTo(mask.rows))
    for (const h of upTo(c.heads))
      for (const i of upTo(keys))
        for (const j of upTo(i + 1)) {
          if (!at(mask, b, i) || !at(mask, b, j)) continue;
          const theirs = (key: number) => c.bias.data[(b * c.heads + h) * keys + key]!;
          const own = ours[((b * c.heads + h) * keys + i) * keys + j]!;
          expect(Math.abs(own - (theirs(j) - theirs(i)))).toBeLessThan(1e-6);
          compared++;
        }
  expect(compared).toBeGreaterThanOrEqual(mask.rows * c.heads * 6);
}

function runFullBias(c: Case): void {
  const [Tq, Tk] = c.bias.shape.slice(-2) as [number, number];
  const halfSlope = c.id.startsWith('deepmind');
  const first = halfSlope ? 0 : Tk - Tq; // the others: the last Tq of Tk positions
  const query = c.query_positions ? gridOf(c.query_positions) : range(Tq, first);
  const key = c.key_positions ? gridOf(c.key_positions) : range(Tk);
  const total = c.total_heads ?? c.heads;
  const options: Partial<AlibiConfig> = {
    ...(total !== c.heads && { slopes: [...alibiSlopes(c.heads), ...Array<number>(total - c.heads).fill(0)] }),
    ...(halfSlope && { bidirectional: 'halfSlope' }),
  };
  expect(largestDifference(biasBetween(query, key, total, options), c.bias.data)).toBeLessThan(1e-6);
}

/** The module's attention in float64 from its q, k, v and our biases; queries with nothing to see are not compared. */
function runAttention(c: Case): void {
  const [B, H, T, Dh] = c.q.shape as [number, number, number, number];
  const positions = fromMask(gridOf(c.attention_mask!));
  const bias =
    c.id === 'attention-falcon' ? falconBias(positions, positions, H, Dh, true) : biasBetween(positions, positions, H);
  const out: number[] = [];
  const expected: number[] = [];
  for (const b of upTo(B))
    for (const i of upTo(T)) {
      const visible = upTo(T).filter((j) => c.keep.data[(b * T + i) * T + j]);
      if (!visible.length) continue;
      const context = upTo(H).flatMap((h) => {
        const vector = (of: Tensor, t: number) =>
          of.data.slice(((b * H + h) * T + t) * Dh, ((b * H + h) * T + t + 1) * Dh);
        const cell = (j: number) => ((b * H + h) * T + i) * T + j;
        const q = vector(c.q, i);
        const scores = visible.map(
          (j) => vector(c.k, j).reduce((sum, value, d) => sum + value * q[d]!, 0) / Math.sqrt(Dh) + bias[cell(j)]!,
        );
        // Theirs may differ by a constant per row: compare after taking off that of the query's own key.
        const own = visible.indexOf(i);
        visible.forEach((j, n) => {
          const theirs = c.scores.data[cell(j)]! - c.scores.data[cell(i)]!;
          expect(Math.abs(scores[n]! - scores[own]! - theirs)).toBeLessThan(1e-6);
        });
        const weights = scores.map((s) => Math.exp(s - Math.max(...scores)));
        const total = weights.reduce((x, y) => x + y);
        visible.forEach((j, n) => {
          expect(Math.abs(weights[n]! / total - c.probs.data[cell(j)]!)).toBeLessThan(1e-6);
        });
        return upTo(Dh).map((d) => visible.reduce((sum, j, n) => sum + (weights[n]! / total) * vector(c.v, j)[d]!, 0));
      });
      const D = H * Dh;
      out.push(
        ...upTo(D).map((o) => context.reduce((sum, x, d) => sum + c.w_o.data[o * D + d]! * x, c.b_o ? c.b_o[o]! : 0)),
      );
      expected.push(...c.out.data.slice((b * T + i) * D, (b * T + i + 1) * D));
    }
  expect(largestDifference(out, expected)).toBeLessThan(1e-6);
}

const runners: Record<string, (c: Case) => void> = {
  slopes: runSlopes,
  'key-bias': runKeyBias,
  'full-bias': runFullBias,
  attention: runAttention,
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('slopes, biases and attention of the libraries', 'alibi.json', 40, runners);

describe('falcon.json: rounded as transformers rounds, positions to 1048576', () => {
  interface Falcon {
    readonly id: string;
    readonly heads: number;
    readonly positions: number[];
    readonly alibi: number[][];
  }
  const { cases } = golden<{ cases: Falcon[] }>('falcon.json');
  test.each(cases)('$id', ({ heads, positions, alibi: theirs }) => {
    // From position 0, whose number is 0: theirs as they are, every bit.
    const whole = falconBias(range(1), explicit([positions]), heads, 64, false);
    expect(whole).toEqual(theirs.flat());
    const scaled = falconBias(range(1), explicit([positions]), heads, 64, true);
    expect(scaled).toEqual(theirs.flat().map((value) => value / 8));
    // From any other: theirs less the query’s own.
    const query = positions.indexOf(1000);
    const relative = falconBias(explicit([[1000]]), explicit([positions]), heads, 64, false);
    const expected = theirs.flatMap((row) => row.map((value) => value - row[query]!));
    expect(largestDifference(relative, expected)).toBeLessThan(6e-8 * Math.max(...expected.map(Math.abs)));
  });
});

describe('exact.json: 60-digit arithmetic, distances to 1048576', () => {
  interface Exact {
    readonly id: string;
    readonly heads: number;
    readonly distances: number[];
    readonly slopes: number[];
    readonly geometric: number[];
    readonly bias: number[][];
  }
  const { cases } = golden<{ cases: Exact[] }>('exact.json');
  const relative = (value: number, expected: number) => Math.abs(value / expected - 1);
  test.each(cases)('$id', ({ heads, distances, slopes, geometric, bias }) => {
    const ours = { press: alibiSlopes(heads), geometric: alibiSlopes(heads, { slopes: 'geometric' }) };
    slopes.forEach((slope, h) => {
      expect(relative(ours.press[h]!, slope)).toBeLessThan(1e-14);
      expect(relative(ours.geometric[h]!, geometric[h]!)).toBeLessThan(1e-14);
    });
    const expected = bias.flat();
    for (const sign of [1, -1]) {
      const offsets = Int32Array.from(distances, (d) => sign * d);
      const [host, device] = [alibiBias(ours.press, offsets), biasOf(heads, {})(offsets)];
      expect(host.length).toBe(expected.length);
      expected.forEach((value, i) => {
        expect(relative(host[i]!, value)).toBeLessThan(1e-14);
        expect(relative(device[i]!, value)).toBeLessThan(6e-8); // half a unit of float32
      });
    }
  });
});
