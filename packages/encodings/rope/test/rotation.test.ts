/** Rotated queries and keys against the apply functions of nine libraries and the numbers printed in five test suites. */
import { explicit, type Grid, range } from '@posenc/core';
import {
  applyRotary,
  type Frequencies,
  fromHuggingFace,
  type Pairing,
  type RopeOptions,
  ropeFrequencies,
  rotaryTables,
  rotaryTensors,
} from '@posenc/rope';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ownAttention } from '../examples/own-attention.ts';
import { exclusions } from './exclusions.ts';
import { deviation, gridOf, load, type Stored, tensorOf } from './golden.ts';

beforeAll(() => tf.setBackend('cpu'));

const rotate = (u: Tensor4D, positions: Grid, frequencies: Frequencies, pairing: Pairing): ArrayLike<number> =>
  tf.tidy(() => applyRotary(u, rotaryTensors(rotaryTables(positions, frequencies)), pairing).dataSync());

interface Case {
  readonly id: string;
  readonly style: string;
  readonly config: {
    readonly head_dim: number;
    readonly rotary_dim: number;
    readonly base: number;
    readonly rope_parameters?: object;
    readonly max_position_embeddings?: number;
  };
  readonly positions: Stored;
  readonly q: Stored;
  readonly k: Stored;
  readonly q_rotated: Stored;
  readonly k_rotated: Stored;
}

const reference = load<{ cases: Case[]; attention: Attention[] }>('reference/rope-apply');
const excluded = exclusions['reference/rope-apply']!;

const pairingOf = (style: string): Pairing => (style === 'interleaved-in-half-out' ? 'deepseek' : (style as Pairing));

describe('apply functions of the libraries, positions up to 131071', () => {
  for (const c of reference.cases.filter(({ id }) => !(id in excluded)))
    it(`${c.id}`, () => {
      const { head_dim: headDim, rotary_dim: rotaryDim, base } = c.config;
      const options = c.config.rope_parameters ? (fromHuggingFace(c.config) as RopeOptions) : { base, rotaryDim };
      const { type: _, ...own } = options as RopeOptions & { type?: string };
      const frequencies = ropeFrequencies(own, { headDim });
      for (const [input, output] of [[c.q, c.q_rotated] as const, [c.k, c.k_rotated] as const])
        expect(
          deviation(rotate(tensorOf(input), gridOf(c.positions), frequencies, pairingOf(c.style)), output.data),
        ).toBeLessThan(1e-6);
    });
});

interface Attention {
  readonly id: string;
  readonly positions: Stored;
  readonly q: Stored;
  readonly k: Stored;
  readonly v: Stored;
  readonly out_BTHD: Stored;
}

describe('a whole attention layer that is not ours (examples/own-attention.ts)', () => {
  it('llama-gqa-causal', () => {
    const { q, k, v, positions, out_BTHD } = reference.attention.find(({ id }) => id === 'llama-gqa-causal')!;
    const twice = (u: Tensor4D) => tf.gather(u, [0, 0, 1, 1], 1); // grouped queries: two heads read each key head
    const out = ownAttention(tensorOf(q), twice(tensorOf(k)), twice(tensorOf(v)), gridOf(positions));
    expect(deviation(out.transpose([0, 2, 1, 3]).dataSync(), out_BTHD.data)).toBeLessThan(1e-6);
  });
});

describe('numbers printed in other projects’ tests', () => {
  it('stanford-cs336: interleaved, 64 channels', () => {
    const c = load<{ shape: number[]; input: number[]; expected: number[]; theta: number }>(
      'published/cs336-rope-interleaved',
    );
    const u = tf.tensor4d(c.input, [4, 1, 12, 64]);
    const turned = rotate(u, range(12), ropeFrequencies({ base: c.theta }, { headDim: 64 }), 'interleaved');
    expect(deviation(turned, c.expected)).toBeLessThan(2e-6); // their input is printed with 7 decimals and reaches 4
  });

  it('keras-hub: half, positions per sample', () => {
    const c = load<{ positions: number[][]; input: number[]; expected: number[] }>(
      'published/keras-rope-half-positions2d',
    );
    const u = tf.tensor4d(c.input, [2, 2, 1, 16]).transpose([0, 2, 1, 3]) as Tensor4D; // [B, T, heads, Dh] there
    const turned = rotate(u, explicit(c.positions), ropeFrequencies({}, { headDim: 16 }), 'half');
    expect(deviation(turned, c.expected)).toBeLessThan(1e-6); // one head: [B, 1, T, Dh] and [B, T, 1, Dh] are the same numbers
  });

  it('keras-hub: half, linear scaling, from Hugging Face', () => {
    const { cases } = load<{ cases: { scaling_factor: number; positions: number[]; expected: number[][] }[] }>(
      'published/keras-rope-linear-scaling',
    );
    expect(cases).toHaveLength(2);
    for (const { scaling_factor: factor, positions, expected } of cases) {
      const frequencies = ropeFrequencies({ scaling: { type: 'linear', factor } }, { headDim: 4 });
      const turned = rotate(tf.ones([1, 1, positions.length, 4]), explicit([positions]), frequencies, 'half');
      expect(deviation(turned, expected.flat())).toBeLessThan(1e-6);
    }
  });

  it('keras-hub: half, all ones, six channels at position 3', () => {
    const turned = rotate(tf.ones([1, 1, 1, 6]), explicit([[3]]), ropeFrequencies({}, { headDim: 6 }), 'half');
    expect(deviation(turned, [-1.1311, 0.8515, 0.9935, -0.8489, 1.1291, 1.0064])).toBeLessThan(1e-4);
  });

  describe('onnxruntime', () => {
    interface OrtCase {
      readonly name: string;
      readonly interleaved: boolean;
      readonly rotary_dim?: number;
      readonly positions: number[];
      readonly shape: [number, number, number, number];
      readonly input: number[];
      readonly expected: number[];
      readonly cos?: number[][];
      readonly sin?: number[][];
    }
    for (const c of load<{ cases: OrtCase[] }>('published/ort-rope').cases)
      it(c.name, () => {
        const u = tf.tensor4d(c.input, c.shape).transpose([0, 2, 1, 3]) as Tensor4D; // [B, T, heads, Dh] there
        const headDim = c.shape[3];
        const pairing = c.interleaved ? 'interleaved' : 'half';
        const cols = c.positions.length;
        const tables = c.cos
          ? {
              rows: 1,
              cols,
              pairs: c.rotary_dim! / 2,
              cos: Float64Array.from(c.cos.flat()),
              sin: Float64Array.from(c.sin!.flat()),
            }
          : rotaryTables(explicit([c.positions]), ropeFrequencies({}, { headDim }));
        const turned = applyRotary(u, rotaryTensors(tables), pairing).transpose([0, 2, 1, 3]);
        expect(deviation(turned.dataSync(), c.expected)).toBeLessThan(2e-4); // four decimals printed, of input and output
      });
  });

  it('fairseq: two channels, three positions', () => {
    const c = load<Record<string, number[] & number[][]>>('published/fairseq-rope-relshift');
    const frequencies = ropeFrequencies({}, { headDim: 2 });
    const { cos, sin } = rotaryTables(range(3), frequencies);
    expect(deviation(cos, c.cos!)).toBeLessThan(6e-5);
    expect(deviation(sin, c.sin!)).toBeLessThan(6e-5);
    const turned = rotate(tf.tensor4d(c.sample_torch_seed0!, [1, 1, 3, 2]), range(3), frequencies, 'half');
    expect(deviation(turned, c.rope_d2_expected!.flat())).toBeLessThan(6e-5);
    expect(exclusions['published/fairseq-rope-relshift']).toHaveProperty('rel_shift');
  });

  it('both pairings of [1, 2, 3, 4] at position 1', () => {
    const u = tf.tensor4d([1, 2, 3, 4], [1, 1, 1, 4]);
    const frequencies = ropeFrequencies({}, { headDim: 4 });
    const half = rotate(u, range(1, 1), frequencies, 'half');
    const interleaved = rotate(u, range(1, 1), frequencies, 'interleaved');
    expect(deviation(half, [-1.9841106, 1.9599007, 2.4623779, 4.0197997])).toBeLessThan(5e-7);
    expect(deviation(interleaved, [-1.1426397, 1.9220756, 2.9598507, 4.0297995])).toBeLessThan(5e-7);
  });
});
