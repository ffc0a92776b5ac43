/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { createParams, fromMask, type Grid, mapGrid } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SinusoidalConfig, sinusoidal, sinusoidalFrequencies, sinusoidalTable } from '../src/index.ts';
import { excluded, golden, largestDifference, type Tensor } from './golden.ts';

interface Case {
  readonly id: string;
  readonly dim: number;
  readonly positions: readonly number[];
  readonly table: Tensor;
  readonly padding_idx?: number | null;
  readonly tokens?: Tensor;
  readonly max_wavelength?: number;
  readonly min_timescale?: number;
  readonly max_timescale?: number;
  readonly theta?: number;
  readonly scale?: number;
}

const dimsOf = (dim: number) => ({
  modelDim: dim,
  embeddingDim: dim,
  numLayers: 1,
  numHeads: 1,
  numKvHeads: 1,
  headDim: dim,
  causal: true,
});

/** What the embed hook adds to x (zeros unless given) at these positions, float32. */
function embed(query: Grid, dim: number, options: Partial<SinusoidalConfig>, x?: readonly number[]): Float32Array {
  const created = sinusoidal.create(sinusoidal.config.parse(options), dimsOf(dim));
  const shape: [number, number, number] = [query.rows, query.cols, dim];
  const input = x ? tf.tensor3d([...x], shape) : tf.zeros<tf.Rank.R3>(shape);
  const params = createParams(created.params, 0);
  return created.hooks(params)({ query, key: query, seqLen: query }).embed!(input).dataSync<'float32'>();
}

const row = (positions: readonly number[]): Grid => ({
  rows: 1,
  cols: positions.length,
  data: Int32Array.from(positions),
});

/** Our positions and options for a convention of another library, by the id's first part. */
const conventions: Record<string, (c: Case) => { options: Partial<SinusoidalConfig>; positions: readonly number[] }> = {
  keras: (c) => ({ options: { base: c.max_wavelength! }, positions: c.positions }),
  marian: (c) => ({ options: { layout: 'concatenated' }, positions: c.positions }),
  // The rows of fairseq-d… are indexed by the library's own positions; `offset` is exercised by fairseq-forward.
  fairseq: (c) => ({ options: { layout: 'concatenated', spacing: 'tensor2tensor' }, positions: c.positions }),
  // Frequencies run from min down to min²/max there: ours of base max/min, at positions min times as far.
  t2t: (c) => ({
    options: { layout: 'concatenated', spacing: 'tensor2tensor', base: c.max_timescale! / c.min_timescale! },
    positions: c.positions.map((p) => p * c.min_timescale!),
  }),
  // Their factor is trained, and starts at 1/√D.
  x: (c) => ({
    options: { layout: 'concatenated', base: c.theta!, scale: 'rsqrtDim', learnable: true },
    positions: c.positions,
  }),
};

function runTable(c: Case): void {
  const { options, positions } = conventions[c.id.split('-')[0]!]!(c);
  const scale = c.scale ?? 1;
  const kept = positions.flatMap((p, t) => (p === c.padding_idx ? [] : [t]));
  const of = (table: ArrayLike<number>, factor: number) =>
    kept.flatMap((t) => Array.from({ length: c.dim }, (_, i) => factor * table[t * c.dim + i]!));

  expect(c.table.shape).toEqual([positions.length, c.dim]);
  const expected = of(c.table.data, 1);
  expect(largestDifference(of(sinusoidalTable(positions, c.dim, options), scale), expected)).toBeLessThan(1e-9);
  expect(largestDifference(of(embed(row(positions), c.dim, options), 1), expected)).toBeLessThan(1e-7);
  positions.forEach((p, t) => {
    if (p === c.padding_idx) expect(c.table.data.slice(t * c.dim, (t + 1) * c.dim).every((v) => v === 0)).toBe(true);
  });
}

/** Positions counted from a padding mask, the first real token at padding_idx + 1. */
function runForward(c: Case): void {
  const [rows, cols] = c.tokens!.shape as [number, number];
  const real = c.tokens!.data.map((token) => (token === c.padding_idx ? 0 : 1));
  const query = fromMask({ rows, cols, data: Int32Array.from(real) });
  const options: Partial<SinusoidalConfig> = {
    layout: 'concatenated',
    spacing: 'tensor2tensor',
    offset: c.padding_idx! + 1,
  };
  const ours = embed(query, c.dim, options);
  const pick = (table: ArrayLike<number>) =>
    real.flatMap((keep, t) => (keep ? Array.from({ length: c.dim }, (_, i) => table[t * c.dim + i]!) : []));
  expect(pick(ours).length).toBe(10 * c.dim); // 10 of the 15 tokens are real
  expect(largestDifference(pick(ours), pick(c.table.data))).toBeLessThan(1e-7);
}

function runnerFor(c: Case): (() => void) | undefined {
  if (c.tokens) return () => runForward(c);
  return c.id.split('-')[0]! in conventions ? () => runTable(c) : undefined;
}

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('sinusoidal.json: tables of the libraries', () => {
  const { cases } = golden<{ cases: Case[] }>('sinusoidal.json');

  test('every id is run or excluded, never both', () => {
    expect(cases.length).toBe(20);
    for (const c of cases) expect([c.id, runnerFor(c) !== undefined]).toEqual([c.id, !excluded.has(c.id)]);
  });
  test.each(cases.filter((c) => runnerFor(c)))('$id', (c) => runnerFor(c)!());
});

describe('sinusoidal-tables.json: rows printed in published tests', () => {
  type Entry = { expected: number[][] };
  const entries = golden<Record<string, Entry>>('sinusoidal-tables.json');
  const concatenated = { layout: 'concatenated' } as const;
  const t2t = { ...concatenated, spacing: 'tensor2tensor' } as const;
  const upTo = (n: number) => Array.from({ length: n }, (_, p) => p);
  /** dim, options, positions, tolerance: half a unit of the digits printed there (float32 for those of eight). */
  const runs: Record<string, [number, Partial<SinusoidalConfig>, number[], number]> = {
    vaswani_interleaved_d6_12pos: [6, {}, upTo(12), 6e-6],
    vaswani_concat_d512: [512, concatenated, upTo(3), 5.1e-5],
    t2t_concat_d512: [512, t2t, upTo(3), 1e-6],
    fsmt_t2t_d6_positions2and3: [6, t2t, [2, 3], 5.1e-5],
    roformer_concat_d6: [6, concatenated, upTo(2), 5.1e-5],
    keras_d4: [4, {}, upTo(2), 6e-6],
    fairseq_rel_d2: [2, t2t, [3, 2, 1, 0, -1, -2, -3], 5.1e-5],
  };

  test('every key is run', () => {
    expect(Object.keys(runs).sort()).toEqual(
      Object.keys(entries)
        .filter((key) => key !== 'source')
        .sort(),
    );
  });
  test.each(Object.keys(runs))('%s', (key) => {
    const [dim, options, positions, tolerance] = runs[key]!;
    const table = sinusoidalTable(positions, dim, options);
    const { expected } = entries[key]!;
    expect(expected.length).toBe(positions.length);
    expected.forEach((values, t) => {
      const start = t * dim;
      expect(largestDifference(table.slice(start, start + values.length), values)).toBeLessThan(tolerance);
    });
  });
});

describe('ct2-sinusoidal-t2t.json: CTranslate2 adds position 1 to the first token', () => {
  const { cases } = golden<{ cases: { dim: number; input: number[]; expected: number[] }[] }>(
    'ct2-sinusoidal-t2t.json',
  );
  test.each(cases)('width $dim', ({ dim, input, expected }) => {
    const sum = embed(row([0]), dim, { layout: 'concatenated', spacing: 'tensor2tensor', offset: 1 }, input);
    expect(largestDifference(sum, expected)).toBeLessThan(5e-6); // six digits are printed there
  });
});

describe('exact.json: far positions in 60-digit arithmetic', () => {
  interface Exact {
    readonly id: string;
    readonly dim: number;
    readonly base: number;
    readonly spacing: 'paper' | 'tensor2tensor';
    readonly positions: number[];
    readonly frequencies: number[];
    readonly sine: number[][];
    readonly cosine: number[][];
  }
  const { cases } = golden<{ cases: Exact[] }>('exact.json');
  test.each(cases)('$id', ({ dim, base, spacing, positions, frequencies, sine, cosine }) => {
    const omega = sinusoidalFrequencies(dim, { base, spacing });
    expect(omega.length).toBe(frequencies.length);
    omega.forEach((w, k) => {
      expect(Math.abs(w / frequencies[k]! - 1)).toBeLessThan(1e-12);
    });

    const expected = (layout: 'interleaved' | 'concatenated') =>
      positions.flatMap((_, t) => {
        const channels =
          layout === 'concatenated'
            ? [...sine[t]!, ...cosine[t]!]
            : frequencies.flatMap((_, k) => [sine[t]![k]!, cosine[t]![k]!]);
        return [...channels.slice(0, dim), ...(channels.length < dim ? [0] : [])];
      });
    for (const layout of ['interleaved', 'concatenated'] as const) {
      const options = { base, spacing, layout };
      expect(largestDifference(sinusoidalTable(positions, dim, options), expected(layout))).toBeLessThan(1e-9);
      expect(largestDifference(embed(row(positions), dim, options), expected(layout))).toBeLessThan(1e-7);
    }
    const shifted = mapGrid(row(positions), (p) => p - 1_000_000);
    const options = { base, spacing, offset: 1_000_000 };
    expect(largestDifference(embed(shifted, dim, options), expected('interleaved'))).toBeLessThan(1e-7);
  });
});
