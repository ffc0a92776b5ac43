/** Inverse frequencies and cos/sin tables against Hugging Face, rotary-embedding-torch, x-transformers and Qwen-1. */
import { explicit, range } from '@posenc/core';
import { fromHuggingFace, type RopeOptions, ropeFrequencies, rotaryTables } from '@posenc/rope';
import { describe, expect, it } from 'vitest';
import { exclusions } from './exclusions.ts';
import { deviation, load, relativeDeviation, type Stored } from './golden.ts';
import { create, layerAt } from './hooks.ts';

interface Case {
  readonly id: string;
  readonly config: {
    readonly head_dim: number;
    readonly max_position_embeddings: number;
    readonly rope_parameters: object;
  };
  readonly seq_len?: number;
  readonly qk_head_dim?: number;
  readonly softmax_scale?: number;
  readonly inv_freq: readonly number[];
  readonly attention_factor: number;
  readonly positions?: readonly number[];
  readonly cos?: Stored;
  readonly sin?: Stored;
}

interface History {
  readonly id: string;
  readonly config: Case['config'];
  readonly attention_factor?: number;
  readonly call_lengths: readonly number[];
  readonly inv_freq_after_call: Stored;
}

/** The case's config.json in our words, as RoPE's options. */
function optionsOf(config: object): RopeOptions {
  const { type, ...options } = fromHuggingFace(config) as { type: 'rope' } & RopeOptions;
  expect(type).toBe('rope');
  return options;
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
      expect(attentionFactor).toBeCloseTo(c.attention_factor, 11); // printed with 12 digits
    });

  it('DeepSeek V3, the scale of scores: scoreScale · g(mscale_all_dim)²', () => {
    const { config, qk_head_dim, softmax_scale } = reference.cases.find(({ id }) => id === 'deepseek-v3')!;
    const options = optionsOf({ ...config, qk_rope_head_dim: 64, head_dim: qk_head_dim });
    const { scale } = layerAt(create(options, qk_head_dim!), range(1));
    expect((scale as number) / Math.sqrt(qk_head_dim!)).toBeCloseTo(softmax_scale!, 11);
  });
});

describe('transformers 5.24.0, cos and sin', () => {
  for (const c of reference.cases.filter(({ positions }) => positions))
    it(c.id, () => {
      const frequencies =
        c.id in excluded
          ? { invFreq: Float64Array.from(c.inv_freq), attentionFactor: c.attention_factor }
          : ropeFrequencies(optionsOf(c.config), { headDim: c.config.head_dim, seqLen: c.seq_len });
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

describe('transformers 5.24.0, LongRoPE as a module, which has no memory', () => {
  const {
    config,
    call_lengths,
    inv_freq_after_call: held,
    attention_factor,
  } = reference.stateful.find(({ id }) => id === 'longrope-history-L0-16')!;
  it('every call agrees, of lengths 10 16 17 40 16 12', () => {
    call_lengths.forEach((seqLen, call) => {
      const { invFreq, attentionFactor } = ropeFrequencies(optionsOf(config), { headDim: config.head_dim, seqLen });
      const theirs = held.data.slice(call * held.shape[1]!, (call + 1) * held.shape[1]!);
      expect(relativeDeviation(invFreq, theirs)).toBeLessThan(1e-7); // a float32 buffer
      expect(attentionFactor).toBeCloseTo(attention_factor!, 11);
    });
    expect(call_lengths).toEqual([10, 16, 17, 40, 16, 12]);
  });
});

describe('transformers, numbers printed in its own tests', () => {
  const published = load<{ inv_freq: Record<string, number[]> }>('published/hf-rope-scaling-invfreq').inv_freq;
  const runs: Record<string, [RopeOptions, number?]> = {
    default: [{}],
    dynamic: [{ scaling: { type: 'dynamic', factor: 10, originalMaxPositionEmbeddings: 2048 } }, 16384],
    yarn: [{ scaling: { type: 'yarn', factor: 10, originalMaxPositionEmbeddings: 2048 } }],
    llama3: [{ scaling: { type: 'llama3', factor: 10, originalMaxPositionEmbeddings: 2048 } }],
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

  it('longrope: the default divided by the long list beyond the original length, sharpened by √(1 + ln s / ln L0)', () => {
    const longFactor = Array.from({ length: 64 }, (_, k) => 1 + k / 8);
    const scaling = {
      type: 'longrope',
      shortFactor: new Array<number>(64).fill(1),
      longFactor,
      originalMaxPositionEmbeddings: 2048,
      factor: 10,
    } as const;
    const { invFreq, attentionFactor } = ropeFrequencies({ scaling }, { headDim: 128, seqLen: 2049 });
    const back = Array.from(invFreq, (f, k) => f * longFactor[k]!);
    expect(relativeDeviation(back, published.default!)).toBeLessThan(5e-5);
    expect(attentionFactor).toBeCloseTo(Math.sqrt(1 + Math.log(10) / Math.log(2048)), 12);
  });

  it('every set printed there is run', () => expect(Object.keys(published).sort()).toEqual(Object.keys(runs).sort()));
});

describe('NTK by parts and Resonance: their authors’ code', () => {
  interface AuthorsCase {
    readonly id: string;
    readonly config: {
      readonly rotary_dim: number;
      readonly base: number;
      readonly factor?: number;
      readonly original_max_position_embeddings?: number;
    };
    readonly inv_freq: readonly number[];
    readonly wavelengths?: readonly number[];
    readonly attention_factor?: number;
  }
  const { cases } = load<{ cases: AuthorsCase[] }>('reference/authors-frequencies');
  const scalingOf = ({ id, config }: AuthorsCase): RopeOptions['scaling'] => {
    const [factor, originalMaxPositionEmbeddings] = [config.factor!, config.original_max_position_embeddings!];
    if (id.startsWith('ntk-by-parts')) return { type: 'ntk-by-parts', factor, originalMaxPositionEmbeddings } as const;
    if (id.startsWith('resonance-yarn')) return { type: 'yarn', factor, originalMaxPositionEmbeddings } as const;
    return id.startsWith('resonance-ntk') ? { type: 'ntk', factor } : { type: 'default' };
  };
  for (const c of cases)
    it(c.id, () => {
      const { invFreq, attentionFactor } = ropeFrequencies(
        { base: c.config.base, roundWavelengths: c.wavelengths !== undefined, scaling: scalingOf(c) },
        { headDim: c.config.rotary_dim },
      );
      expect(relativeDeviation(invFreq, c.inv_freq)).toBeLessThan(1e-12);
      if (c.wavelengths)
        expect(
          deviation(
            invFreq.map((f) => (2 * Math.PI) / f),
            c.wavelengths,
          ),
        ).toBeLessThan(1e-9);
      expect(attentionFactor).toBeCloseTo(c.attention_factor ?? 1, 14);
    });
});

describe('YaRN, Llama 3 and LongRoPE, numbers of the field', () => {
  const deepseekV2 = 707 / 1000; // its mscale and mscale_all_dim, not 1/√2
  const ratios = (options: RopeOptions, headDim: number) => {
    const plain = ropeFrequencies({ base: options.base }, { headDim }).invFreq;
    return Array.from(ropeFrequencies(options, { headDim }).invFreq, (f, k) => f / plain[k]!);
  };

  it('YaRN is linear in the index of the pair, as in all code, not in its turns, as in the paper', () => {
    const scaling = { type: 'yarn', factor: 4, originalMaxPositionEmbeddings: 1024 } as const;
    const rising = [1, 1, 1, 0.8928571, 0.7857143, 0.6785714, 0.5714286, 0.4642857, 0.3571429];
    const expected = [...rising, ...new Array<number>(7).fill(0.25)];
    expect(deviation(ratios({ base: 10000, scaling }, 32), expected)).toBeLessThan(1e-7);
  });

  it('gpt-oss does not round the ramp’s ends', () => {
    const scaling = { type: 'yarn', factor: 32, originalMaxPositionEmbeddings: 4096, truncate: false } as const;
    const expected = [
      1, 0.9055511, 0.8014431, 0.6973352, 0.5932273, 0.4891193, 0.3850114, 0.2809034, 0.1767955, 0.0726875, 0.03125,
    ];
    expect(deviation(ratios({ base: 150000, scaling }, 64).slice(8, 19), expected)).toBeLessThan(1e-7);
  });

  it('Llama 3.1: 29 pairs stay, 6 are blended, 29 are divided by 8', () => {
    const scaling = { type: 'llama3', factor: 8, originalMaxPositionEmbeddings: 8192 } as const;
    const all = ratios({ base: 500000, scaling }, 128);
    const blended = [0.8281684, 0.6437431, 0.4935071, 0.3711223, 0.2714255, 0.1902107];
    expect(all.slice(0, 29).every((ratio) => ratio === 1)).toBe(true);
    expect(deviation(all.slice(29, 35), blended)).toBeLessThan(1e-7);
    expect(deviation(all.slice(35), new Array(29).fill(0.125))).toBeLessThan(1e-15);
  });

  it.each([
    [{ factor: 40 }, 1.3688879],
    [{ factor: 40, mscale: deepseekV2, mscaleAllDim: deepseekV2 }, 1],
    [{ factor: 64 }, 1.4158883],
    [{ factor: 1 }, 1],
    [{ factor: 64, attentionFactor: 2 }, 2],
  ])('YaRN’s attention factor of %j is %f', (options, expected) => {
    const scaling = { type: 'yarn', originalMaxPositionEmbeddings: 4096, ...options } as const;
    expect(ropeFrequencies({ scaling }, { headDim: 64 }).attentionFactor).toBeCloseTo(expected, 7);
  });

  it.each([
    [1, 1.8738542],
    [deepseekV2, 1.2608038 ** 2],
    [0, 1],
  ])('DeepSeek’s factor on scores at s = 40, mscaleAllDim %f', (mscaleAllDim, expected) => {
    const scaling = {
      type: 'yarn',
      factor: 40,
      originalMaxPositionEmbeddings: 4096,
      mscaleAllDim,
      scaleScores: true,
    } as const;
    const { scale = 1 } = layerAt(create({ scaling }, 64), range(1));
    expect(scale as number).toBeCloseTo(expected, 6);
  });

  it.each([
    [4096, 32, 1.1902381],
    [4096, 4, 1.0801234],
    [2048, 2, 1.0444659],
    [2048, 1, 1],
  ])('LongRoPE’s attention factor at L0 %i, s %i is %f', (originalMaxPositionEmbeddings, factor, expected) => {
    const lists = { shortFactor: [1], longFactor: [2] };
    const scaling = { type: 'longrope', ...lists, originalMaxPositionEmbeddings, factor } as const;
    expect(ropeFrequencies({ scaling }, { headDim: 2 }).attentionFactor).toBeCloseTo(expected, 7);
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
    ['reference/rope-inv-freq', 47],
    ['reference/rope-apply', 13],
    ['reference/ntk-aware', 7],
    ['reference/authors-frequencies', 13],
    ['reference/no-rope-layers', 4],
  ] as const)
    it(name, () => {
      const reasons = exclusions[name]!;
      expect(Object.keys(reasons).filter((id) => !ids(name).includes(id))).toEqual([]);
      expect(ids(name).filter((id) => !(id in reasons))).toHaveLength(runs);
    });
});
