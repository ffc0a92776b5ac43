/** The config: what is filled in, what is refused and in which words, and how scalings are added. */
import { createRegistry, z } from '@posenc/core';
import { createRope, defineScaling, inverseFrequencies, rope, ropeFrequencies, rotaryWidth } from '@posenc/rope';
import { describe, expect, it } from 'vitest';
import { create, dims } from './hooks.ts';

const registry = createRegistry([rope]);
const parse = (options: object) => registry.parse({ type: 'rope', ...options });

describe('config', () => {
  it('fills in defaults: all channels, base 10000, half, no scaling', () => {
    expect(parse({})).toEqual({ type: 'rope', base: 10000, pairing: 'half', scaling: { type: 'default' } });
    expect(rotaryWidth(rope.config.parse({}), 64)).toBe(64);
  });

  it.each([
    [{}],
    [{ partialRotaryFactor: 0.25 }],
    [{ rotaryDim: 8, pairing: 'interleaved', base: 500000 }],
    [{ scaling: { type: 'linear', factor: 4 } }],
    [{ scaling: { type: 'ntk', factor: 1 } }],
    [{ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 2048 } }],
  ])('survives JSON and a second reading: %j', (options) => {
    const once = parse(options);
    expect(registry.parse(JSON.parse(JSON.stringify(once)))).toEqual(once);
    expect(once).toMatchObject(options);
  });

  it.each([
    [{ bse: 5 }, 'unknown key "bse": did you mean "base"?'],
    [{ base: 0 }, '"base" is 0: must be at least 1'],
    [{ base: Number.NaN }, '"base"'],
    [{ pairing: 'halves' }, '"half"|"interleaved"'],
    [{ rotaryDim: 8, partialRotaryFactor: 0.5 }, 'partialRotaryFactor is given too'],
    [{ partialRotaryFactor: 0 }, '"partialRotaryFactor" is 0'],
    [{ partialRotaryFactor: 1.5 }, '"partialRotaryFactor" is 1.5'],
    [{ rotaryDim: 2.5 }, '"rotaryDim" is 2.5'],
    [{ scaling: { type: 'linaer', factor: 2 } }, 'no such scaling; known: "default", "linear", "ntk", "dynamic"'],
    [{ scaling: { type: 'linear' } }, '"scaling.factor" is missing'],
    [{ scaling: { type: 'linear', factor: 0.5 } }, '"scaling.factor" is 0.5: must be at least 1'],
    [{ scaling: { type: 'ntk', factor: 0.99 } }, 'must be at least 1'],
    [{ scaling: { type: 'dynamic', factor: 0.5, originalMaxPositionEmbeddings: 8 } }, 'must be at least 1'],
    [{ scaling: { type: 'dynamic', factor: 2 } }, '"scaling.originalMaxPositionEmbeddings" is missing'],
    [{ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 0 } }, 'originalMaxPositionEmbeddings'],
    [{ scaling: { type: 'linear', factor: 2, attnFactor: 1 } }, 'unknown key "attnFactor" in "scaling"'],
    [{ scaling: { type: 'default', factor: 2 } }, 'unknown key "factor" in "scaling"'],
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
  ])('%j on %i channels', (options, headDim, words) => {
    expect(() => create(options, headDim)).toThrow(words);
    expect(() => create(options, headDim)).toThrow(expect.objectContaining({ name: 'PosencError' }));
    expect(() => ropeFrequencies(options, { headDim })).toThrow(words);
  });
});

describe('traits, tables and notes', () => {
  it('only dynamic scaling reads the sequence length', () => {
    const reads = (options: Parameters<typeof create>[0]) => create(options, 8).traits.readsSeqLen;
    expect(reads({})).toBe(false);
    expect(reads({ scaling: { type: 'linear', factor: 2 } })).toBe(false);
    expect(reads({ scaling: { type: 'ntk', factor: 2 } })).toBe(false);
    expect(reads({ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 8 } })).toBe(true);
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
