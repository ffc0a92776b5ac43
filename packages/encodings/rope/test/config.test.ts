/** The config: what is filled in, what is refused and in which words, and how scalings are added. */
import { createRegistry, z } from '@posenc/core';
import { createRope, defineScaling, inverseFrequencies, rope, ropeFrequencies, rotaryWidth } from '@posenc/rope';
import { describe, expect, it } from 'vitest';
import { create, dims } from './hooks.ts';

const registry = createRegistry([rope]);
const lists = {
  type: 'longrope' as const,
  shortFactor: [1, 2],
  longFactor: [3, 4],
  originalMaxPositionEmbeddings: 8,
};
const parse = (options: object) => registry.parse({ type: 'rope', ...options });

describe('config', () => {
  it('fills in defaults: all channels, base 10000, half, no scaling', () => {
    expect(parse({})).toEqual({
      type: 'rope',
      base: 10000,
      pairing: 'half',
      roundWavelengths: false,
      scaling: { type: 'default' },
    });
    expect(rotaryWidth(rope.config.parse({}), 64)).toBe(64);
  });

  it.each([{ type: 'mrope' }, { type: 'rope', scaling: { type: 'mrope', mrope_section: [16, 24, 24] } }])(
    'refuses several positions per token with the reason: %j',
    (config) => {
      expect(() => registry.parse(config)).toThrow(
        '"mrope" gives every token several positions (time, height, width), and an encoding here sees one',
      );
    },
  );

  it.each([
    [{}],
    [{ partialRotaryFactor: 0.25 }],
    [{ rotaryDim: 8, pairing: 'interleaved', base: 500000 }],
    [{ scaling: { type: 'linear', factor: 4 } }],
    [{ scaling: { type: 'ntk', factor: 1 } }],
    [{ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 2048 } }],
    [{ scaling: { type: 'ntk-by-parts', factor: 2, originalMaxPositionEmbeddings: 2048 } }],
    [{ scaling: { type: 'yarn', factor: 2, originalMaxPositionEmbeddings: 2048, truncate: false, mscale: 1 } }],
    [{ scaling: { type: 'llama3', factor: 2, originalMaxPositionEmbeddings: 2048, highFreqFactor: 8 } }],
    [{ scaling: { ...lists, factor: 2 } }],
    [{ scaling: { ...lists, attentionFactor: 1.5 } }],
    [{ scaling: { type: 'proportional', partialRotaryFactor: 0.25 }, pairing: 'deepseek', roundWavelengths: true }],
  ])('survives JSON and a second reading: %j', (options) => {
    const once = parse(options);
    expect(registry.parse(JSON.parse(JSON.stringify(once)))).toEqual(once);
    expect(once).toMatchObject(options);
  });

  it.each([
    [{ bse: 5 }, 'unknown key "bse": did you mean "base"?'],
    [{ base: 0 }, '"base" is 0: must be at least 1'],
    [{ base: Number.NaN }, '"base"'],
    [{ pairing: 'halves' }, '"half"|"interleaved"|"deepseek"'],
    [{ rotaryDim: 8, partialRotaryFactor: 0.5 }, 'partialRotaryFactor is given too'],
    [{ partialRotaryFactor: 0 }, '"partialRotaryFactor" is 0'],
    [{ partialRotaryFactor: 1.5 }, '"partialRotaryFactor" is 1.5'],
    [{ rotaryDim: 2.5 }, '"rotaryDim" is 2.5'],
    [{ scaling: { type: 'linaer', factor: 2 } }, 'no such scaling; known: "default", "linear", "ntk", "ntk-by-parts"'],
    [{ scaling: { type: 'linear' } }, '"scaling.factor" is missing'],
    [{ scaling: { type: 'linear', factor: 0.5 } }, '"scaling.factor" is 0.5: must be at least 1'],
    [{ scaling: { type: 'ntk', factor: 0.99 } }, 'must be at least 1'],
    [{ scaling: { type: 'dynamic', factor: 0.5, originalMaxPositionEmbeddings: 8 } }, 'must be at least 1'],
    [{ scaling: { type: 'dynamic', factor: 2 } }, '"scaling.originalMaxPositionEmbeddings" is missing'],
    [{ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 0 } }, 'originalMaxPositionEmbeddings'],
    [{ scaling: { type: 'linear', factor: 2, attnFactor: 1 } }, 'unknown key "attnFactor" in "scaling"'],
    [{ scaling: { type: 'default', factor: 2 } }, 'unknown key "factor" in "scaling"'],
    [{ scaling: { type: 'yarn', factor: 2 } }, '"scaling.originalMaxPositionEmbeddings" is missing'],
    [
      { scaling: { type: 'yarn', factor: 2, originalMaxPositionEmbeddings: 8, betaFast: 1, betaSlow: 2 } },
      'must be at least betaSlow',
    ],
    [
      { scaling: { type: 'yarn', factor: 2, originalMaxPositionEmbeddings: 8, scaleScores: true } },
      'needs mscaleAllDim',
    ],
    [
      { scaling: { type: 'yarn', factor: 2, originalMaxPositionEmbeddings: 8, betaSlow: 0 } },
      '"scaling.betaSlow" is 0',
    ],
    [
      { scaling: { type: 'llama3', factor: 2, originalMaxPositionEmbeddings: 8, lowFreqFactor: 4 } },
      'must be above lowFreqFactor',
    ],
    [{ scaling: lists }, 'give factor (maximal length / original length)'],
    [{ scaling: { ...lists, factor: 2, shortFactor: [0, 1] } }, '"scaling.shortFactor.0" is 0'],
    [{ scaling: { ...lists, factor: 2, originalMaxPositionEmbeddings: 1 } }, 'originalMaxPositionEmbeddings'],
    [{ scaling: { type: 'proportional' } }, '"scaling.partialRotaryFactor" is missing'],
    [{ scaling: { type: 'proportional', partialRotaryFactor: 2 } }, '"scaling.partialRotaryFactor" is 2'],
  ])('refuses %j', (options, words) => {
    expect(() => parse(options)).toThrow(words);
    expect(() => parse(options)).toThrow(expect.objectContaining({ name: 'PosencError' }));
  });

  it('says the same when the pure function is called', () => {
    const options = { scaling: { type: 'linear', factor: 0.5 } } as const;
    expect(() => ropeFrequencies(options, { headDim: 8 })).toThrow('rope: "scaling.factor" is 0.5');
  });
});

describe('a head that cannot be turned', () => {
  it.each([
    [{}, 7, 'is 7, but channels turn in pairs'],
    [{ rotaryDim: 3 }, 8, 'is 3, but channels turn in pairs'],
    [{ partialRotaryFactor: 0.25 }, 20, '⌊headDim 20 · partialRotaryFactor 0.25⌋ is 5, but channels turn in pairs'],
    [{ partialRotaryFactor: 0.1 }, 8, 'is 0, but channels turn in pairs'],
    [{ rotaryDim: 10 }, 8, 'rotaryDim is 10, more than the head has channels: headDim is 8'],
    [{ scaling: { type: 'ntk', factor: 2 } as const }, 2, 'scaling "ntk" needs a rotary width of at least 4'],
    [{ rotaryDim: 2, scaling: { type: 'ntk', factor: 2 } as const }, 64, 'a division by zero at r = 2'],
    [
      { scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 8 } as const },
      2,
      'scaling "dynamic" needs a rotary width of at least 4',
    ],
    [{ scaling: { ...lists, factor: 2 } }, 8, 'shortFactor of scaling "longrope" lists 2 numbers, and 4 pairs'],
    [{ base: 1, scaling: { type: 'yarn', factor: 2, originalMaxPositionEmbeddings: 8 } as const }, 8, 'at base 1 all'],
    [
      { roundWavelengths: true, scaling: { ...lists, shortFactor: [0.2, 1], factor: 2 } },
      4,
      'cannot round the wavelength of pair 0, 1.26 positions',
    ],
  ])('%j on %i channels', (options, headDim, words) => {
    expect(() => create(options, headDim)).toThrow(words);
    expect(() => create(options, headDim)).toThrow(expect.objectContaining({ name: 'PosencError' }));
    expect(() => ropeFrequencies(options, { headDim })).toThrow(words);
  });
});

describe('traits, tables and notes', () => {
  it('only dynamic scaling and LongRoPE read the sequence length', () => {
    const reads = (options: Parameters<typeof create>[0]) => create(options, 8).traits.readsSeqLen;
    expect(reads({})).toBe(false);
    expect(reads({ scaling: { type: 'linear', factor: 2 } })).toBe(false);
    expect(reads({ scaling: { type: 'ntk', factor: 2 } })).toBe(false);
    expect(reads({ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 8 } })).toBe(true);
    expect(create({ scaling: { ...lists, factor: 2 } }, 4).traits.readsSeqLen).toBe(true);
    expect(reads({ scaling: { type: 'yarn', factor: 2, originalMaxPositionEmbeddings: 8 } })).toBe(false);
  });

  it('shows frequencies after scaling, and wavelengths', () => {
    const config = rope.config.parse({ base: 100, scaling: { type: 'linear', factor: 2 } });
    const [frequency, wavelength] = rope.tables!(config, dims(4));
    expect(frequency).toMatchObject({ name: 'inverse frequency', quantity: 'frequency', axes: ['pair'], shape: [2] });
    expect(Array.from(frequency!.data)).toEqual([0.5, 0.05]);
    expect(wavelength).toMatchObject({ name: 'wavelength in positions', quantity: 'value', shape: [2] });
    expect(wavelength!.data[1]).toBeCloseTo(40 * Math.PI, 10);
  });

  it('shows dynamic frequencies at 1, 2, 4 and 8 times the trained length', () => {
    const scaling = { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 2048 } as const;
    const tables = rope.tables!(rope.config.parse({ scaling }), dims(64));
    expect(tables.map(({ name }) => name).filter((name) => name.startsWith('inverse'))).toEqual(
      [2048, 4096, 8192, 16384].map((length) => `inverse frequency at sequence length ${length}`),
    );
    expect(tables[2]!.data).toEqual(ropeFrequencies({ scaling }, { headDim: 64, seqLen: 4096 }).invFreq);
  });

  it('shows LongRoPE’s two sets of frequencies, and the attention factor where it is not 1', () => {
    const tables = rope.tables!(rope.config.parse({ base: 100, scaling: { ...lists, attentionFactor: 1.5 } }), dims(4));
    const shown = (name: string) => Array.from(tables.find((table) => table.name === name)!.data);
    expect(shown('inverse frequency at sequence length 8')).toEqual([1, 0.05]);
    expect(shown('inverse frequency at sequence length 9')).toEqual([1 / 3, 0.025]);
    expect(tables.at(-1)).toEqual({
      name: 'attention factor, on cos and sin',
      quantity: 'value',
      axes: [],
      shape: [],
      data: [1.5],
    });
    expect(rope.tables!(rope.config.parse({}), dims(4))).toHaveLength(2);
  });

  it('shows DeepSeek’s factor on the scores', () => {
    const scaling = { type: 'yarn', factor: 40, originalMaxPositionEmbeddings: 4096 } as const;
    const parsed = rope.config.parse({ scaling: { ...scaling, mscale: 1, mscaleAllDim: 1, scaleScores: true } });
    const { name, data } = rope.tables!(parsed, dims(64)).at(-1)!;
    expect(name).toBe('factor on the scores');
    expect(data[0]).toBeCloseTo(1.8738542, 7);
  });

  it('rounds wavelengths after scaling, and leaves pairs that do not turn alone', () => {
    const { invFreq } = ropeFrequencies(
      { base: 100, roundWavelengths: true, scaling: { type: 'proportional', partialRotaryFactor: 0.5, factor: 1.5 } },
      { headDim: 8 },
    );
    expect(Array.from(invFreq)).toEqual([(2 * Math.PI) / 9, (2 * Math.PI) / 30, 0, 0]); // 9.42 and 29.8
  });

  it('says which pairing is whose', () => {
    expect(rope.notes.join('\n')).toMatch(/paper pairs adjacent channels \(interleaved\); the default is half/);
  });
});

describe('a scaling of one’s own', () => {
  const halved = defineScaling({
    options: z.strictObject({ type: z.literal('halved'), times: z.int().min(0) }),
    readsSeqLen: false,
    frequencies: ({ times }, { base, rotaryDim }) => ({
      invFreq: inverseFrequencies(base, rotaryDim).map((theta) => theta / 2 ** times),
      attentionFactor: 1.5,
    }),
  });

  it('stands beside the built-in ones in the plug-in made with it, and nowhere else', () => {
    const mine = createRope([halved]);
    const config = mine.config.parse({ scaling: { type: 'halved', times: 3 } });
    expect(Array.from(mine.tables!(config, dims(2))[0]!.data)).toEqual([1 / 8]);
    expect(mine.config.parse({ scaling: { type: 'linear', factor: 2 } }).scaling.type).toBe('linear');
    expect(() => parse({ scaling: { type: 'halved', times: 3 } })).toThrow('no such scaling');
  });

  it('may not take a name that is taken', () => {
    const linear = defineScaling({
      options: z.strictObject({ type: z.literal('linear') }),
      readsSeqLen: false,
      frequencies: () => ({ invFreq: Float64Array.of(1), attentionFactor: 1 }),
    });
    expect(() => createRope([linear])).toThrow('two scalings are called "linear"');
  });
});
