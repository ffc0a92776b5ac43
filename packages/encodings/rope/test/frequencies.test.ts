/** Inverse frequencies and cos/sin tables against Hugging Face, rotary-embedding-torch, x-transformers and Qwen-1. */
import { explicit } from '@posenc/core';
import { type RopeOptions, ropeFrequencies, rotaryTables } from '@posenc/rope';
import { describe, expect, it } from 'vitest';
import { exclusions } from './exclusions.ts';
import { deviation, load, relativeDeviation, type Stored } from './golden.ts';

interface Case {
  readonly id: string;
  readonly config: {
    readonly head_dim: number;
    readonly max_position_embeddings: number;
    readonly rope_parameters: Readonly<Record<string, string | number>>;
  };
  readonly seq_len?: number;
  readonly inv_freq: readonly number[];
  readonly attention_factor: number;
  readonly positions?: readonly number[];
  readonly cos?: Stored;
  readonly sin?: Stored;
}

interface History {
  readonly id: string;
  readonly config: Case['config'];
  readonly call_lengths: readonly number[];
  readonly inv_freq_after_call: Stored;
}

/** A Hugging Face config in our words. */
function optionsOf({ rope_parameters: p, max_position_embeddings }: Case['config']): RopeOptions {
  const shared = {
    base: Number(p.rope_theta),
    ...(p.partial_rotary_factor !== undefined && { partialRotaryFactor: Number(p.partial_rotary_factor) }),
  };
  const factor = Number(p.factor);
  if (p.rope_type === 'default') return shared;
  if (p.rope_type === 'linear') return { ...shared, scaling: { type: 'linear', factor } };
  if (p.rope_type === 'dynamic')
    return { ...shared, scaling: { type: 'dynamic', factor, originalMaxPositionEmbeddings: max_position_embeddings } };
  throw new Error(`no scaling here is called ${p.rope_type}`);
}

const reference = load<{ cases: Case[]; stateful: History[] }>('reference/rope-inv-freq');
const excluded = exclusions['reference/rope-inv-freq']!;

describe('transformers 5.24.0, inverse frequencies', () => {
  for (const c of reference.cases.filter(({ id }) => !(id in excluded)))
    it(c.id, () => {
      const { invFreq, attentionFactor } = ropeFrequencies(optionsOf(c.config), {
        headDim: c.config.head_dim,
        seqLen: c.seq_len,
      });
      expect(relativeDeviation(invFreq, c.inv_freq)).toBeLessThan(1e-12);
      expect(attentionFactor).toBe(c.attention_factor);
    });
});

describe('transformers 5.24.0, cos and sin from the frequencies it gives (scalings of later versions too)', () => {
  for (const c of reference.cases.filter(({ positions }) => positions))
    it(c.id, () => {
      const frequencies = { invFreq: Float64Array.from(c.inv_freq), attentionFactor: c.attention_factor };
      const { cos, sin } = rotaryTables(explicit([c.positions!]), frequencies);
      // Printed with 9 digits, and the factor with 12.
      expect(deviation(cos, c.cos!.data)).toBeLessThan(1e-8);
      expect(deviation(sin, c.sin!.data)).toBeLessThan(1e-8);
    });
});

describe('transformers 5.24.0, dynamic NTK as a module with memory', () => {
  const tolerance = 1e-7; // the file's own, relative: these numbers are a float32 buffer's
  const {
    config,
    call_lengths: lengths,
    inv_freq_after_call: held,
  } = reference.stateful.find(({ id }) => id === 'dynamic-history-L0-32')!;
  const trained = config.max_position_embeddings;
  const ours = (seqLen: number) => ropeFrequencies(optionsOf(config), { headDim: config.head_dim, seqLen }).invFreq;
  const theirs = (call: number) => held.data.slice(call * held.shape[1]!, (call + 1) * held.shape[1]!);

  it('agrees wherever theirs remembers no longer sequence: calls 0, 1, 2, 4, 7 and 8 of lengths 20 32 40 36 100 33 32 31 50', () => {
    const agreeing = lengths.flatMap((length, call) =>
      relativeDeviation(ours(length), theirs(call)) < tolerance ? [call] : [],
    );
    expect(agreeing).toEqual([0, 1, 2, 4, 7, 8]);
  });

  it('differs elsewhere by their memory alone: they hold the longest length since the last one below the trained length', () => {
    let remembered = trained;
    lengths.forEach((length, call) => {
      remembered = length < trained ? trained : Math.max(remembered, length);
      expect(relativeDeviation(ours(remembered), theirs(call))).toBeLessThan(tolerance);
    });
  });
});

describe('transformers, numbers printed in its own tests', () => {
  const published = load<{ inv_freq: Record<string, number[]> }>('published/hf-rope-scaling-invfreq').inv_freq;
  const runs: Record<string, [RopeOptions, number?]> = {
    default: [{}],
    dynamic: [{ scaling: { type: 'dynamic', factor: 10, originalMaxPositionEmbeddings: 2048 } }, 16384],
  };
  for (const [name, [options, seqLen]] of Object.entries(runs))
    it(name, () => {
      const { invFreq } = ropeFrequencies(options, { headDim: 128, seqLen });
      expect(relativeDeviation(invFreq, published[name]!)).toBeLessThan(5e-5); // five digits printed
    });

  it('linear: a tenth of the default at factor 10', () => {
    const { invFreq, attentionFactor } = ropeFrequencies({ scaling: { type: 'linear', factor: 10 } }, { headDim: 128 });
    expect(
      relativeDeviation(
        Array.from(invFreq, (f) => 10 * f),
        published.default!,
      ),
    ).toBeLessThan(5e-5);
    expect(attentionFactor).toBe(1);
  });

  it('every set printed there is run or excluded', () => {
    expect(
      Object.keys(published)
        .filter((name) => !(name in runs))
        .sort(),
    ).toEqual(['llama3', 'yarn']);
    for (const name of ['llama3', 'yarn']) expect(exclusions['published/hf-rope-scaling-invfreq']).toHaveProperty(name);
  });
});

describe('NTK-aware: rotary-embedding-torch, x-transformers, Qwen-1', () => {
  interface NtkCase {
    readonly id: string;
    readonly config: {
      readonly rotary_dim: number;
      readonly base: number;
      readonly factor?: number;
      readonly ntk_alpha?: number;
    };
    readonly inv_freq: readonly number[];
  }
  for (const { id, config, inv_freq } of load<{ cases: NtkCase[] }>('reference/ntk-aware').cases)
    it(id, () => {
      const factor = config.factor ?? config.ntk_alpha!;
      const { invFreq } = ropeFrequencies(
        { base: config.base, scaling: { type: 'ntk', factor } },
        { headDim: config.rotary_dim },
      );
      expect(relativeDeviation(invFreq, inv_freq)).toBeLessThan(1e-12);
    });

  it('the new base, read back from the second frequency', () => {
    const base = (headDim: number, factor: number) =>
      ropeFrequencies({ scaling: { type: 'ntk', factor } }, { headDim }).invFreq[1]! ** (-headDim / 2);
    expect(base(128, 4)).toBeCloseTo(40889.94243, 4);
    expect(base(128, 2)).toBeCloseTo(20221.26, 2);
    expect(base(64, 8)).toBeCloseTo(85550.38, 2);
  });

  it('divides the slowest pair by exactly the factor and leaves the fastest', () => {
    const plain = ropeFrequencies({}, { headDim: 64 }).invFreq;
    const scaled = ropeFrequencies({ scaling: { type: 'ntk', factor: 6 } }, { headDim: 64 }).invFreq;
    expect(scaled[0]).toBe(1);
    expect(plain[31]! / scaled[31]!).toBeCloseTo(6, 12);
  });
});

describe('dynamic NTK, two rules of one name', () => {
  const base = (headDim: number, factor: number, seqLen: number) =>
    ropeFrequencies({ scaling: { type: 'dynamic', factor, originalMaxPositionEmbeddings: 2048 } }, { headDim, seqLen })
      .invFreq[1]! **
    (-headDim / 2);

  it('Hugging Face: 30527.73675 at twice the length with factor 2 and 128 channels, 31082.237 with 64', () => {
    expect(base(128, 2, 4096)).toBeCloseTo(30527.73675, 4);
    expect(base(64, 2, 4096)).toBeCloseTo(31082.237, 2);
    expect(base(128, 2, 8192)).toBeCloseTo(72195.86, 1);
  });

  it('the YaRN paper’s rule is factor 1', () => {
    expect(base(128, 1, 4096)).toBeCloseTo(20221.26169, 4);
    expect(base(128, 1, 8192)).toBeCloseTo(40889.94, 1);
  });
});

describe('every golden case is run or excluded with a reason', () => {
  const ids = (name: string) => {
    const { cases = [], stateful = [], attention = [] } = load<Record<string, { id: string }[]>>(name);
    return [...cases, ...stateful, ...attention].map(({ id }) => id);
  };
  for (const [name, runs] of [
    ['reference/rope-inv-freq', 15],
    ['reference/rope-apply', 10],
    ['reference/ntk-aware', 7],
  ] as const)
    it(name, () => {
      const reasons = exclusions[name]!;
      expect(Object.keys(reasons).filter((id) => !ids(name).includes(id))).toEqual([]);
      expect(ids(name).filter((id) => !(id in reasons))).toHaveLength(runs);
    });
});
