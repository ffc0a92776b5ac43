/** Every case of golden/ is run here or left out, with a reason, in golden/README.md. */
import { type Dims, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SandwichConfig, sandwich, sandwichBias, sandwichFrequencies } from '../src/index.ts';
import { golden, largestDifference, type Tensor, testCases } from './golden.ts';

interface Case {
  readonly id: string;
  readonly kind: 'full-bias' | 'at-distances' | 'full-bias-nemo';
  readonly config: { readonly heads: number; readonly d_bar: number; readonly bidirectional?: boolean };
  readonly distances?: readonly number[];
  readonly bias: Tensor;
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

function hookBias(heads: number, options: Partial<SandwichConfig>, offsets: readonly number[]): Float32Array {
  const dims: Dims = {
    modelDim: heads,
    embeddingDim: heads,
    numLayers: 1,
    numHeads: heads,
    numKvHeads: heads,
    headDim: 1,
    causal: false,
  };
  const at = { query: range(1), key: range(1), seqLen: range(1) };
  const hooks = sandwich.create(sandwich.config.parse(options), dims).hooks({})(at);
  return hooks.layer!(0).relativeBias!(Int32Array.from(offsets)).dataSync<'float32'>();
}

/** Offsets of all pairs of a square matrix, and which of them are compared. */
function runFull(c: Case): void {
  const [heads, length] = c.bias.shape as [number, number, number];
  const pairs = upTo(length * length).map((ij) => [Math.floor(ij / length), ij % length] as const);
  const nemo = c.kind === 'full-bias-nemo';
  const options: Partial<SandwichConfig> = { dim: c.config.d_bar, spacing: nemo ? 'nemo' : 'paper' };
  const offsets = pairs.map(([i, j]) => j - i);
  // One direction only: their distance above the diagonal is 0, where a causal mask hides it.
  const seen = pairs.map(([i, j]) => c.config.bidirectional !== false || j <= i);
  const kept = (values: ArrayLike<number>) => Array.from(values).filter((_, i) => seen[i % pairs.length]);

  const host = sandwichBias(heads, offsets, { ...options, constant: nemo });
  expect(kept(host).length).toBeGreaterThan(heads * 5);
  expect(largestDifference(kept(host), kept(c.bias.data))).toBeLessThan(1e-7); // nine digits of numbers up to 100
  const diagonal = (i: number) => (nemo ? 0 : c.bias.data[Math.floor(i / pairs.length) * pairs.length]!);
  const expected = c.bias.data.map((value, i) => value - diagonal(i));
  expect(largestDifference(kept(hookBias(heads, options, offsets)), kept(expected))).toBeLessThan(1e-6);
}

const runners: Record<Case['kind'], (c: Case) => void> = {
  'full-bias': runFull,
  'full-bias-nemo': runFull,
  'at-distances': (c) => {
    const { heads, d_bar: dim } = c.config;
    const host = sandwichBias(heads, c.distances!, { dim, constant: false });
    expect(largestDifference(host, c.bias.data)).toBeLessThan(1e-7);
    const n = c.distances!.length;
    const expected = c.bias.data.map((value, i) => value - c.bias.data[Math.floor(i / n) * n]!);
    const unit = Math.max(...expected.map(Math.abs)); // float32: up to 75 here
    for (const sign of [1, -1]) {
      const device = hookBias(
        heads,
        { dim },
        c.distances!.map((d) => sign * d),
      );
      expect(largestDifference(device, expected)).toBeLessThan(6e-8 * unit);
    }
  },
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

testCases<Case>('biases of attention-gym, its paper reference, and NeMo', 'sandwich.json', 6, runners);

describe('exact.json: 60-digit arithmetic, distances to 1048576', () => {
  interface Exact {
    readonly id: string;
    readonly heads: number;
    readonly config: SandwichConfig;
    readonly distances: number[];
    readonly frequencies: number[];
    readonly bias: number[][];
  }
  const { cases } = golden<{ cases: Exact[] }>('exact.json');
  test.each(cases)('$id', ({ heads, config, distances, frequencies, bias }) => {
    sandwichFrequencies(config).forEach((omega, k) => {
      expect(Math.abs(omega / frequencies[k]! - 1)).toBeLessThan(1e-12);
    });
    const expected = bias.flat();
    expect(largestDifference(sandwichBias(heads, distances, config), expected)).toBeLessThan(1e-8); // of sums up to 800
    const device = hookBias(heads, config, distances);
    expected.forEach((value, i) => {
      expect(Math.abs(device[i]! - value)).toBeLessThan(1e-7 * Math.max(1, Math.abs(value)));
    });
  });
});
