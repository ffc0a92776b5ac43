import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '@posenc/backend';
import { type AnyEncoding, type Dims, defineEncoding, drawParam, type NamedTable, z } from '@posenc/core';
import { Resvg } from '@resvg/resvg-js';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDims } from '../src/config/dims.ts';
import { builtIn, registryWith } from '../src/encodings.ts';
import { figuresOf } from '../src/inspect/figures/index.ts';
import { type Inspection, inspect } from '../src/inspect/inspection.ts';
import { holesText } from '../src/inspect/words.ts';
import { cli, folder, removeFolders } from './cli.ts';

afterAll(removeFolders);

beforeAll(() => useBackend('cpu'));

/** As `inspect --json`, without the text in between. */
async function json(...argv: string[]) {
  const { code, out, err } = await cli(['inspect', ...argv, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const inspected = (config: unknown, others: readonly AnyEncoding[] = [], dims: Dims = parseDims(undefined)) => {
  const registry = registryWith(others);
  return inspect(registry.parse(config), registry, dims, 128);
};

/** A built-in encoding with its defaults, inspected once for all tests. */
const known = new Map<string, Inspection>();
const ofType = (type: string): Inspection => {
  const found = known.get(type) ?? inspected({ type });
  known.set(type, found);
  return found;
};

describe('what is measured', () => {
  it('RoPE: pairs, frequencies θ_k = 10000^(−2k/r), lengths', async () => {
    const { measured, parameters, holes } = await json('rope');
    expect(holes).toEqual(['rotate']);
    expect(parameters.count).toBe(0);
    const { pairs, still, lengthError, sameInAllHeads } = measured.groups[0].rotation;
    expect(pairs.map((p: { channels: number[] }) => p.channels)).toEqual(
      Array.from({ length: 16 }, (_, k) => [k, k + 16]),
    );
    pairs.forEach(({ frequency }: { frequency: number }, k: number) => {
      expect(Math.abs(frequency / 10000 ** ((-2 * k) / 32) - 1)).toBeLessThan(1e-5);
    });
    expect(still).toBe(0);
    expect(lengthError).toBeLessThan(1e-6);
    expect(sameInAllHeads).toBe(true);
  });

  it('RoPE as the paper pairs, on a quarter of the head', async () => {
    const { measured } = await json('{"type":"rope","pairing":"interleaved","partialRotaryFactor":0.25}');
    const { pairs, still } = measured.groups[0].rotation;
    expect(pairs.map((p: { channels: number[] }) => p.channels)).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
    expect(still).toBe(24);
  });

  it('RoPE: the same content scores by distance alone, as the sum of cosines says', async () => {
    const { measured } = await json('rope', '--dims', 'headDim=4,numHeads=1');
    const { similarity } = measured.groups[0].rotation;
    for (const p of [0, 1, 7, 100]) expect(similarity[p]).toBeCloseTo((Math.cos(p) + Math.cos(p / 100)) / 2, 5);
  });

  it('sinusoids: the paper’s table at width 4, position 1', async () => {
    const { measured } = await json('sinusoidal', '--dims', 'modelDim=4,numHeads=1');
    const { shape, data } = measured.embed;
    expect(shape).toEqual([128, 4]);
    const paper = [0.841471, 0.5403023, 0.0099998, 0.99995];
    for (const [d, value] of paper.entries()) expect(data[4 + d]).toBeCloseTo(value, 6);
  });

  it('ALiBi: slopes 2^(−8h/H) as a bias of every distance', async () => {
    const { measured } = await json('alibi');
    const { offsets, heads, data } = measured.groups[0].relativeBias;
    expect(heads).toBe(4);
    expect([offsets[0], offsets.at(-1)]).toEqual([-127, 0]);
    for (let h = 0; h < 4; h++) expect(data[h * 128]).toBeCloseTo(-127 * 2 ** (-2 * (h + 1)), 5);
  });

  it('T5: one number per bucket, new ones where the authors’ buckets begin; both sides when bidirectional', async () => {
    const steps = (offsets: number[], row: number[]) =>
      offsets
        .filter((_, i) => i < row.length - 1 && row[i] !== row[i + 1])
        .map((offset) => -offset)
        .reverse();
    const { offsets, data } = (await json('t5')).measured.groups[0].relativeBias;
    const causal = steps(offsets, data.slice(0, 128));
    expect(causal).toEqual([
      ...Array.from({ length: 16 }, (_, i) => i + 1),
      19,
      21,
      24,
      27,
      31,
      35,
      40,
      46,
      52,
      59,
      67,
      77,
      87,
      99,
      113,
    ]);
    const both = (await json('t5', '--dims', 'causal=false')).measured.groups[0].relativeBias;
    expect(both.offsets).toHaveLength(255);
    const behind = both.offsets.filter((o: number) => o <= 0);
    expect(steps(behind, both.data.slice(0, 128)).slice(-8)).toEqual([7, 8, 12, 16, 23, 32, 46, 64, 91].slice(-8));
  });

  it('a learned table ends where it ends', async () => {
    const { measured, parameters, traits } = await json('{"type":"learned","numPositions":50}');
    expect(measured.positions).toBe(50);
    expect(traits.maxPosition).toBe(50);
    expect(parameters.tensors).toEqual([
      { name: 'table', shape: [50, 128], count: 6400, init: { kind: 'normal', std: 0.02 } },
    ]);
  });

  it('NoPE fills nothing', async () => {
    const { holes, measured } = await json('nope');
    expect(holes).toEqual([]);
    expect(measured.groups).toEqual([{ layers: [0, 1, 2, 3], alike: [], holes: [] }]);
  });

  it('layers that differ, apart: perLayer, and T5 with a table per layer', async () => {
    const mixed = await json('{"type":"perLayer","of":[{"type":"rope"},{"type":"nope"}],"pattern":[0,0,0,1]}');
    expect(mixed.measured.groups.map((g: { layers: number[]; holes: string[] }) => [g.layers, g.holes])).toEqual([
      [[0, 1, 2], ['rotate']],
      [[3], []],
    ]);
    const t5 = await json('{"type":"t5","perLayer":true}');
    expect(t5.measured.groups.map((g: { layers: number[] }) => g.layers)).toEqual([[0], [1], [2], [3]]);
  });

  it('compose: all parts, with their tables', async () => {
    const { parts, holes } = await json('{"type":"compose","of":[{"type":"sinusoidal"},{"type":"alibi"}]}');
    expect(parts.map((p: { name: string }) => p.name)).toEqual(['sinusoidal (of[0])', 'alibi (of[1])']);
    expect(parts.flatMap((p: { tables: NamedTable[] }) => p.tables.map((t) => t.quantity))).toEqual([
      'frequency',
      'slope',
    ]);
    expect(holes).toEqual(['embed', 'relativeBias']);
  });

  it('leaves no tensor behind', async () => {
    const before = tf.memory().numTensors;
    for (const { type } of builtIn) await json(type, '--positions', '16');
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('what content decides is measured for random content', () => {
  it('every hook that is filled does something, at its start or with parameters drawn, said so', () => {
    for (const { type } of builtIn) {
      const { holes, measured } = ofType(type);
      const [group] = measured.groups;
      const { infuse, rotation, relativeBias, scale, carried, scores, bias, mix } = group!;
      const seen = [
        ['embed', measured.embed?.table],
        ['infuse', infuse?.table],
        ['rotate', rotation?.matrix],
        ['relativeBias', relativeBias?.data],
        ['scale', scale?.data],
        ['carry', carried?.data],
        ['scores', scores?.data],
        ['bias', bias?.data],
        ['mix', mix?.data],
      ] as const;
      for (const [hole, numbers] of seen) {
        expect(numbers !== undefined, `${type}: ${hole}`).toBe(holes.includes(hole));
        if (numbers) expect(Array.prototype.some.call(numbers, Boolean), `${type}: ${hole} is all zeros`).toBe(true);
      }
      expect(measured.parameters === 'awakened', type).toBe(type === 'cope');
    }
  });

  it('Shaw: keys beyond the clipping distance share their bias; values get the vectors of their distance', () => {
    const { measured } = ofType('shaw');
    const { bias, mix } = measured.groups[0]!;
    expect([bias!.readsContent, mix!.readsContent]).toEqual([true, false]);
    for (let key = 0; key <= 120 - 16; key++)
      expect(bias!.data[120 * 128 + key]).toBeCloseTo(bias!.data[120 * 128]!, 5);
    const { shape, init } = builtIn
      .find((e) => e.type === 'shaw')!
      .create({ maxRelativePosition: 16, shareHeads: true, values: true }, parseDims(undefined)).params.values!;
    const table = drawParam({ shape, init }, 0, 'values'); // [layer, 33, 1, 32]
    for (const distance of [0, 1, 15, 16, 20]) {
      const row = 16 - Math.min(16, distance);
      const length = Math.hypot(...table.subarray(row * 32, (row + 1) * 32));
      expect(mix!.data[30 * 32 + 30 - distance]).toBeCloseTo(length, 4);
    }
  });

  it('FoX: the bias is the sum of the log forget gates after the key, up to the query', () => {
    const { carried, bias } = ofType('fox').measured.groups[0]!;
    expect(carried).toMatchObject({ heads: 4, positions: 128, width: 1 });
    for (const [query, key] of [
      [0, 0],
      [127, 126],
      [127, 0],
      [50, 20],
    ] as const) {
      const sum = carried!.data.slice(key + 1, query + 1).reduce((a, b) => a + b, 0);
      expect(bias!.data[query * 128 + key]).toBeCloseTo(sum, 3);
    }
  });

  it('FIRE: positions alone decide, whatever the content', () => {
    const { groups } = ofType('fire').measured;
    expect(groups.map(({ bias }) => bias!.readsContent)).toEqual([false, false, false, false]);
  });

  it('by distance: mean and deviation over the visible pairs', () => {
    const { data, positions: n, byOffset } = ofType('deberta').measured.groups[0]!.bias!;
    for (const distance of [0, 7, 126]) {
      const values = Array.from({ length: n - distance }, (_, key) => data[(key + distance) * n + key]!);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
      expect(byOffset.mean[n - 1 - distance]).toBeCloseTo(mean, 5);
      expect(byOffset.deviation[n - 1 - distance]).toBeCloseTo(Math.sqrt(variance), 5);
    }
  });

  it('a stranger that replaces the scores: the change', () => {
    const nope = builtIn.find((e) => e.type === 'nope')!;
    const plusOne = defineEncoding({
      ...nope,
      type: 'plus-one',
      config: z.strictObject({}),
      create: () => ({
        ...nope.create({}, parseDims(undefined)),
        hooks: () => () => ({
          layer: () => ({
            scores: ({ q, k, scoreScale }) => tf.add<Tensor4D>(tf.mul(tf.matMul(q, k, false, true), scoreScale), 1),
          }),
        }),
      }),
    });
    const { scores } = inspected({ type: 'plus-one' }, [plusOne]).measured.groups[0]!;
    expect(scores!.readsContent).toBe(false);
    for (const change of scores!.data) expect(change).toBeCloseTo(1, 5);
  });

  it('layers that differ in their parameters alone are alike, those of another config are not', () => {
    const alike = (config: unknown) => inspected(config).measured.groups.map((g) => [g.layers, g.alike]);
    expect(alike({ type: 't5', perLayer: true })[1]).toEqual([[1], [0, 2, 3]]);
    const members = [{ type: 'shaw' }, { type: 'shaw', maxRelativePosition: 2 }];
    expect(alike({ type: 'perLayer', of: members, pattern: [0, 0, 1] })).toEqual([
      [[0], [1, 3]],
      [[1], [0, 3]],
      [[2], []],
      [[3], [0, 1]],
    ]);
  });
});

describe('pictures', () => {
  const drawnFor = (config: unknown, others?: readonly AnyEncoding[]) =>
    figuresOf(inspected(config, others)).map((f) => f.name);
  const ofFrequencies = ['unit-circle', 'angles', 'components', 'frequencies', 'wavelengths'];
  const ofRotation = ['rotation-matrix', 'rotation-products', 'rotation-similarity'];

  it('follow from what an encoding has', () => {
    expect(drawnFor({ type: 'rope' })).toEqual([...ofFrequencies, ...ofRotation]);
    expect(drawnFor({ type: 'sinusoidal' })).toEqual(['embedding', 'embedding-similarity', ...ofFrequencies]);
    expect(drawnFor({ type: 'learned' })).toEqual(['embedding', 'embedding-similarity']);
    expect(drawnFor({ type: 't5' })).toEqual(['bias', 'bias-matrix', 'buckets']);
    expect(drawnFor({ type: 'alibi' })).toEqual(['bias', 'bias-matrix', 'slopes']);
    expect(drawnFor({ type: 'nope' })).toEqual([]);
  });

  it('are there for every encoding but NoPE, and can be drawn', () => {
    for (const { type } of builtIn) {
      const figures = figuresOf(ofType(type));
      expect(figures.length > 0, type).toBe(type !== 'nope');
      for (const { name, draw } of figures) expect(draw(), `${type}: ${name}`).toMatch(/^<svg /);
    }
  });

  it('of content say of which, and of layers whose others are like', () => {
    const of = (type: string) => figuresOf(ofType(type));
    expect(of('shaw').map((f) => f.name)).toEqual([
      'buckets',
      'bias-positions-layer-0',
      'bias-distance-layer-0',
      'mix-positions-layer-0',
      'mix-distance-layer-0',
    ]);
    expect(of('fox').map((f) => f.name)).toEqual([
      'carried-layer-0',
      'bias-positions-layer-0',
      'bias-distance-layer-0',
    ]);
    expect(of('deberta').map((f) => f.name)).toEqual(['buckets', 'bias-positions', 'bias-distance']);
    for (const { caption } of of('fox')) {
      expect(caption).toContain('seed 0');
      expect(caption).toContain('Layers 1–3 do the same with parameters of their own.');
    }
    const [places, bias] = of('cope');
    expect(places!.title).toBe('Position of a key for random scores (seed 0)');
    expect(bias!.caption).toContain('for random inputs, queries, keys and values, seed 0');
    expect(bias!.caption).toContain('It starts at zero');
    expect(of('fire')[0]!.caption).toContain('positions alone decide');
  });

  it('show what is put into queries and keys alone', () => {
    const names = figuresOf(inspected({ type: 'sinusoidal', into: 'queriesAndKeys' })).map((f) => f.name);
    expect(names.slice(0, 2)).toEqual(['infused', 'infused-similarity']);
  });

  it('show a factor of every head', () => {
    const rule = { type: 'constant', factor: Array.from({ length: 4 }, () => [0.5, 1, 1.5, 2]) };
    const [figure] = figuresOf(inspected({ type: 'attention-temperature', rule }));
    expect(figure!.name).toBe('scale');
    expect(figure!.draw()).toContain('head 3');
  });

  it('do not follow from its name, nor need its tables: frequencies are then measured', () => {
    const rope = builtIn.find((e) => e.type === 'rope')!;
    const stranger: AnyEncoding = { ...rope, type: 'stranger', tables: undefined };
    expect(drawnFor({ type: 'stranger' }, [stranger])).toEqual([...ofFrequencies, ...ofRotation]);
  });

  it('have names of their own where layers or parts differ', () => {
    const names = drawnFor({
      type: 'compose',
      of: [{ type: 'alibi' }, { type: 'alibi' }, { type: 'rope' }, { type: 'rope' }],
    });
    expect(names).toContain('slopes-2');
    expect(names.filter((name) => name.startsWith('unit-circle'))).toHaveLength(2);
    expect(new Set(names).size).toBe(names.length);
    const layers = drawnFor({ type: 'perLayer', of: [{ type: 'rope' }, { type: 'rope', base: 500 }], pattern: [0, 1] });
    expect(layers.filter((name) => name.startsWith('rotation-matrix'))).toEqual([
      'rotation-matrix-layer-0',
      'rotation-matrix-layer-1',
    ]);
  });

  it('one wavelength curve per table where frequencies depend on the length', () => {
    const scaling = { type: 'dynamic', factor: 1, originalMaxPositionEmbeddings: 64 };
    const figures = figuresOf(inspected({ type: 'rope', scaling }));
    const svg = figures.find((f) => f.name === 'wavelengths')!.draw();
    for (const length of [64, 128, 256, 512]) expect(svg).toContain(`length ${length}`);
  });

  describe('say what is true of this one', () => {
    const caption = (config: { type: string; [option: string]: unknown }, name: string, dims?: Dims): string => {
      const plain = Object.keys(config).length === 1 && !dims;
      return figuresOf(plain ? ofType(config.type) : inspected(config, [], dims)).find((f) => f.name === name)!.caption;
    };

    it('of buckets: which offsets share one, on either side', () => {
      const both = parseDims('causal=false');
      expect(caption({ type: 't5' }, 'buckets')).toContain(
        'Offsets up to 15 have a bucket of their own, then up to 14 share one, all that are drawn from 113 on share the last.',
      );
      // Clipped at 16, and nothing between.
      expect(caption({ type: 'shaw' }, 'buckets', both)).toContain(
        'Offsets up to 15 have a bucket of their own, all that are drawn from 16 on share the last.',
      );
      expect(caption({ type: 'shaw', maxRelativePosition: 1 }, 'buckets', both)).toContain(
        'Offset 0 has a bucket of its own, all that are drawn from 1 on share the last.',
      );
      expect(caption({ type: 'deberta' }, 'buckets', both)).toMatch(
        /Behind the query: offsets .* Ahead of it: offsets/,
      );
      for (const type of ['t5', 'shaw', 'deberta']) expect(caption({ type }, 'buckets')).not.toContain('number');
    });

    it('of wavelengths: by equal ratios or not, and which pairs stand still', () => {
      expect(caption({ type: 'rope' }, 'components')).toContain(
        'between 6.28 and 35300 positions, each 1.78 times the one before.',
      );
      const trained = { originalMaxPositionEmbeddings: 512 };
      const llama3 = { type: 'llama3', factor: 8, lowFreqFactor: 1, highFreqFactor: 4, ...trained };
      expect(caption({ type: 'rope', scaling: llama3 }, 'components')).toContain('in unequal ratios: 1.78 to ');
      const proportional = { type: 'proportional', partialRotaryFactor: 0.25 };
      for (const name of ['components', 'wavelengths'])
        expect(caption({ type: 'rope', scaling: proportional }, name)).toContain('12 of 16 pairs stand still');
      expect(caption({ type: 'rope', scaling: proportional }, 'angles')).toContain('pair 15 never moves');
    });

    it('of sinusoids: of positions or of distances', () => {
      const circle = (type: string) => figuresOf(ofType(type)).find((f) => f.name === 'unit-circle')!.title;
      for (const type of ['sinusoidal', 'rope', 'xpos']) expect(circle(type)).toBe('Positions as points on a circle');
      for (const type of ['transformer-xl', 'sandwich']) {
        expect(circle(type)).toBe('Distances as points on a circle');
        expect(caption({ type }, 'frequencies')).toContain('A row is one distance');
      }
      const several = { type: 'compose', of: [{ type: 'rope' }, { type: 'sandwich' }] };
      expect(figuresOf(inspected(several)).map((f) => f.title)).toContain(
        'Positions or distances as points on a circle',
      );
    });

    it('of an added vector: what else tells where a token stands', () => {
      const words = 'only this vector tells the model where a token stands';
      expect(caption({ type: 'sinusoidal' }, 'embedding')).toContain(`Besides the causal mask, ${words}`);
      expect(caption({ type: 'sinusoidal' }, 'embedding', parseDims('causal=false')).toLowerCase()).toContain(words);
      const composed = caption({ type: 'compose', of: [{ type: 'sinusoidal' }, { type: 'alibi' }] }, 'embedding');
      expect(composed).toContain('it fills embed, relativeBias');
      expect(composed).not.toContain('only this vector');
    });

    it('of one distance: where all its pairs are known to be alike', () => {
      expect(figuresOf(ofType('fire')).at(-1)!.caption).toContain(
        'among the first 128 positions all pairs at one distance',
      );
      expect(caption({ type: 'shaw' }, 'mix-distance-layer-0')).toContain('; all pairs at one distance have the same.');
    });

    it('of layers: holes that all of them fill are named once', () => {
      expect(holesText(ofType('fox'))).not.toContain('layer');
      const mixed = { type: 'perLayer', of: [{ type: 'rope' }, { type: 'nope' }, { type: 'rope', base: 500 }] };
      expect(holesText(inspected({ ...mixed, pattern: [0, 1, 2, 1] }))).toMatch(
        /; layers 0, 2: rotate; layers 1, 3: nothing$/,
      );
    });
  });

  it('say that parameters are at initialisation, and only then', () => {
    const captions = (type: string) => figuresOf(ofType(type)).map((f) => f.caption);
    for (const caption of [...captions('learned'), captions('t5')[0]!]) expect(caption).toContain('drawn with seed 0');
    for (const caption of [...captions('rope'), ...captions('alibi')]) expect(caption).not.toContain('seed 0');
  });

  it('are files that a renderer accepts, and one page that holds them all', async () => {
    const cwd = folder();
    const { code, out } = await cli(['inspect', 'rope', '--out', 'new/pictures'], { cwd });
    expect(code).toBe(0);
    expect(out).toContain(`Drawn: open ${join('new/pictures', 'index.html')} (8 SVG files beside it)`);
    const files = readdirSync(join(cwd, 'new/pictures'));
    const page = readFileSync(join(cwd, 'new/pictures/index.html'), 'utf8');
    expect(files.filter((f) => f.endsWith('.svg'))).toHaveLength(8);
    for (const file of files.filter((f) => f.endsWith('.svg'))) {
      const svg = readFileSync(join(cwd, 'new/pictures', file), 'utf8');
      expect(new Resvg(svg).render().width).toBe(720);
      expect(page.includes(svg), file).toBe(true);
    }
    expect(/<(script|link|img|iframe)|src=|@import/.test(page), 'needs other files').toBe(false);
    expect(page.includes('Su et al.')).toBe(true);
  });

  it('NoPE: the page says that there is nothing to draw', async () => {
    const cwd = folder();
    const { out } = await cli(['inspect', 'nope', '--out', 'n'], { cwd });
    expect(out).toContain('there was nothing to draw');
    expect(existsSync(join(cwd, 'n/index.html'))).toBe(true);
  });

  it('leave out what cannot be drawn, with a note', async () => {
    const infinite = '{"type":"learned","initStd":1e308}';
    const { code, out, err } = await cli(['inspect', infinite, '--out', 'n'], { cwd: folder() });
    expect(code).toBe(0);
    expect(err).toMatch(/^note: not drawn: heatmap .* no value is finite/);
    expect(out).toContain('there was nothing to draw');
  });
});

describe('text', () => {
  it('tells everything once, and holds the width of the terminal', async () => {
    for (const columns of [60, 100]) {
      const { out } = await cli(['inspect', 'rope'], { columns });
      for (const part of [
        'R(p) turns pair k',
        'Su et al.',
        'rotate (turns queries and keys)',
        'defined at every position',
        'parameters  none',
        '"pairing":"half"',
        'Where paper and practice differ',
        'inverse frequency [16]',
        '16 pairs of channels turn',
      ])
        expect(out).toContain(part);
      const prose = out
        .split('\n')
        .filter(
          (line) =>
            !line.includes('http') && !line.includes('‖') && !line.startsWith('  s_ij') && !line.startsWith('  R(p)'),
        );
      expect(Math.max(...prose.map((line) => Array.from(line).length))).toBeLessThanOrEqual(columns);
    }
  });

  it('counts parameters and says how they start', async () => {
    const { out } = await cli(['inspect', 't5']);
    expect(out).toContain('128 in all');
    expect(out).toContain('table  [1, 32, 4]  128  normal, mean 0, std 0.08839');
    expect(out).toContain('(at initialisation, seed 0)');
  });

  it('is coloured only where that is wanted', async () => {
    const esc = String.fromCharCode(27);
    expect((await cli(['inspect', 'rope'], { color: true })).out).toContain(`${esc}[1mrope`);
    expect((await cli(['inspect', 'rope'])).out).not.toContain(esc);
    expect((await cli(['inspect', 'rope', '--json'], { color: true })).out).not.toContain(esc);
  });

  it('reads standard input', async () => {
    const { code, out } = await cli(['inspect', '-', '--json'], { stdin: '{"type":"rope","base":500}' });
    expect(code).toBe(0);
    expect(JSON.parse(out).config.base).toBe(500);
  });
});
