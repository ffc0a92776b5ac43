/** The pages in docs/ that follow from the registry, from measurements and from files of facts: nothing in them may be stale. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { alibi } from '@posenc/alibi';
import { useBackend } from '@posenc/backend';
import { createRegistry, holes, type Traits } from '@posenc/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docs, readMapData, readMeasured, root } from '../scripts/map/data.ts';
import { mapPage } from '../scripts/map/page.ts';
import { adjacency, adjacencyByLevel, cosines, varianceByPosition } from '../scripts/why-positions/at-init.ts';
import { readings, type Word } from '../scripts/why-positions/example.ts';
import { drawings } from '../scripts/why-positions/figures.ts';
import { distinct, fourSymbols, random, readMeasurements } from '../scripts/why-positions/measurements.ts';
import { withMeasurements } from '../scripts/why-positions/page.ts';
import { builtIn, registryWith } from '../src/encodings.ts';

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
const json = (...path: string[]) => JSON.parse(read(...path));
const types: string[] = builtIn.map(({ type }) => type);

describe('the map of the field', () => {
  beforeAll(() => useBackend('cpu'));

  it('is what "npm run map" writes', () => {
    expect(read('docs', 'map.md')).toBe(mapPage(registryWith(), readMapData(), readMeasured()));
  });

  it('knows every built-in encoding, every hole, and no others', () => {
    const data = readMapData();
    expect(Object.keys(data.encodings).sort()).toEqual([...types].sort());
    expect(Object.keys(data.holeCosts)).toEqual([...holes]);
  });

  it('says which encoding to write about when one is missing', () => {
    const data = readMapData();
    const { alibi: _, ...encodings } = data.encodings;
    const page = () => mapPage(createRegistry([alibi]), { ...data, encodings }, readMeasured());
    expect(page).toThrow('docs/data/map.json has no entry "alibi"');
  });

  it('names the models that a reader will look for, with encodings that exist', () => {
    const { models } = readMapData();
    expect(models.flatMap(({ encodings }) => encodings.filter((type) => !types.includes(type)))).toEqual([]);
    const names = models.map(({ name }) => name).join(', ');
    const wanted = 'Transformer BERT GPT ALBERT XLNet T5 DeBERTa BLOOM LLaMA GLM-130B PaLM'.split(' ');
    expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  });

  it('shows measurements of the demo as it is', () => {
    const { trained, rows } = readMeasured();
    const { model, training, seeds, evaluation, encodings } = json('apps', 'cli', 'suites', 'demo.json');
    const { length, steps, batchSize } = training;
    const { modelDim, numLayers, numHeads } = model;
    expect(trained).toEqual({ length, steps, batchSize, seeds: seeds.length, modelDim, numLayers, numHeads });
    const entries = encodings as { name: string; encoding: { type: string }; evaluate?: { name: string }[] }[];
    const names = entries.flatMap(({ name, evaluate = [] }) => [name, ...evaluate.map((override) => override.name)]);
    expect(rows.map(({ name }) => name)).toEqual(names);
    for (const { cells } of rows)
      expect(cells.map((cell) => cell.length)).toEqual(evaluation.multiples.map((k: number) => k * length));
  });
});

describe('why positions', () => {
  beforeAll(() => useBackend('simd'));
  afterAll(() => useBackend('cpu')); // test files share a process
  const golden = json('apps', 'cli', 'golden', 'at-init.json') as {
    entries: { name: string; input: string; emb: Level; attn: Level[] }[];
    variance: { curves: Record<string, { positions: number[]; attnL1: number[] }> };
  };
  type Level = { range: [number, number] };
  const rangesOf = (name: string, input: string) => {
    const entry = golden.entries.find((e) => e.name === name && e.input === input)!;
    return [entry.emb, ...entry.attn].map(({ range }) => range);
  };
  const outside = (values: readonly number[], ranges: readonly [number, number][]) =>
    values.flatMap((value, level) => {
      const [low, high] = ranges[level]!;
      return value >= low && value <= high ? [] : [{ level, value, low, high }];
    });

  it('shows the numbers that are in its files', () => {
    const page = read('docs', 'why-positions.md');
    expect(withMeasurements(page, readMeasurements(), readMeasured())).toBe(page);
  });

  it('says so when a marker is lost', () => {
    const page = read('docs', 'why-positions.md').replace('<!-- variance: end -->', '');
    expect(() => withMeasurements(page, readMeasurements(), readMeasured())).toThrow('<!-- variance: start -->');
  });

  it('has adjacency scores within the ranges of the study it repeats', () => {
    const { causal, bidirectional, fourSymbols } = readMeasurements().adjacency;
    expect(causal).toHaveLength(7);
    expect(outside(causal, rangesOf('nope-causal-384', 'random96-N22'))).toEqual([]);
    expect(outside(bidirectional, rangesOf('nope-bidir-384', 'random96-N22'))).toEqual([]);
    expect(outside(fourSymbols, rangesOf('nope-causal-384', 'digits5678-N16'))).toEqual([]);
  });

  it('measures the first layer again within those ranges', () => {
    const again = { ...random, numLayers: 1 };
    expect(outside(adjacencyByLevel(again, [7]), rangesOf('nope-causal-384', 'random96-N22'))).toEqual([]);
    const blind = { ...again, causal: false };
    expect(outside(adjacencyByLevel(blind, [7]), rangesOf('nope-bidir-384', 'random96-N22'))).toEqual([]);
    const few = { ...fourSymbols, numLayers: 1 };
    expect(outside(adjacencyByLevel(few, [7]), rangesOf('nope-causal-384', 'digits5678-N16'))).toEqual([]);
  });

  it('counts adjacency by hand: three of four triples rise, ties do not', () => {
    // Rows r = 2 and r = 3, columns 0 … r − 1; the rest is not read.
    const similarity = Float64Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.2, 0, 0, 0.1, 0.3, 0.3, 0);
    expect(adjacency(similarity, 4)).toBe(3 / 4);
    const rows = new Float32Array(2 * 384);
    rows.set([3, 4]);
    rows.set([4, 3], 384);
    expect(Array.from(cosines(rows, 0, 2), (x) => Number(x.toFixed(6)))).toEqual([1, 0.96, 0.96, 1]);
  });

  it('has a variance of 1/n under a causal mask, as in the study, and an even one without', () => {
    const { causal, bidirectional } = readMeasurements().variance;
    const { positions, attnL1 } = golden.variance.curves['distinct|d384']!;
    for (const [k, n] of positions.entries()) expect(Math.abs(causal[n - 1]! / attnL1[k]! - 1)).toBeLessThan(0.1);
    for (const [k, share] of causal.entries()) expect(Math.abs(share * (k + 1) - 1)).toBeLessThan(0.1);
    for (const share of bidirectional) expect(Math.abs(share - 1)).toBeLessThan(0.02);
    const again = varianceByPosition({ ...distinct, length: 8 }, [7]);
    expect(Math.abs(again[7]! * 8 - 1)).toBeLessThan(0.1);
  });

  it('shows words that receive the same wherever they stand, unless a mask or positions tell them', () => {
    const all = readings();
    const apart = (how: string) => {
      const [one, other] = all.filter((reading) => reading.how === how);
      const words = Object.keys(one!.outputs) as Word[];
      return Math.max(
        ...words.flatMap((word) => one!.outputs[word].map((x, c) => Math.abs(x - other!.outputs[word][c]!))),
      );
    };
    expect(apart('everything visible, no positions')).toBeLessThan(1e-6);
    expect(apart('causal mask, no positions')).toBeGreaterThan(0.1);
    expect(apart('everything visible, RoPE')).toBeGreaterThan(0.1);
    // By hand: dog scores 1/√2, 0, 1/√2 with dog, bites, man.
    const e = Math.exp(Math.SQRT1_2);
    const dog = [(2 * e) / (2 * e + 1), (1 + e) / (2 * e + 1)];
    for (const [c, value] of all[0]!.outputs.dog.entries()) expect(value).toBeCloseTo(dog[c]!, 6);
  });

  it('has pictures that are small, drawn from those numbers, and all on the page', () => {
    const page = read('docs', 'why-positions.md');
    const files = readdirSync(join(docs, 'figures'));
    for (const name of files) {
      expect(page).toContain(`](figures/${name})`);
      expect([name, read('docs', 'figures', name).length < 60_000]).toEqual([name, true]);
    }
    for (const [name, svg] of Object.entries(drawings(readMeasurements())))
      expect([name, read('docs', 'figures', name) === svg]).toEqual([name, true]);
  });
});

describe('the glossary', () => {
  const entries = [...read('docs', 'glossary.md').matchAll(/^- (\*\*.+?\*\*(?:, \*\*.+?\*\*)*): (.+)$/gm)];
  const terms = entries.flatMap(([, names]) => [...names!.matchAll(/\*\*(.+?)\*\*/g)].map(([, term]) => term!));

  it('explains each term once, in one sentence', () => {
    expect(entries).toHaveLength(read('docs', 'glossary.md').match(/^- /gm)!.length);
    expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([]);
    for (const [line, , text] of entries) expect([line, /^[^.]+(?:\.\d[^.]*)*\.$/.test(text!)]).toEqual([line, true]);
  });

  it('has every hole and every trait', () => {
    const traits: Record<keyof Traits, true> = {
      maxPosition: true,
      shiftInvariant: true,
      requiresCausal: true,
      readsPositions: true,
      readsSeqLen: true,
    };
    expect([...holes, ...Object.keys(traits)].filter((name) => !terms.includes(name))).toEqual([]);
  });
});

describe('links between pages', () => {
  const pages = ['docs/map.md', 'docs/why-positions.md', 'docs/glossary.md'];
  /** As GitHub makes them. */
  const anchorsOf = (path: string) =>
    [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );

  it.each(pages)('%s', (name) => {
    const links = [...read(name).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    expect(links.length).toBeGreaterThan(0);
    for (const [, target, anchor] of links) {
      const path = target ? join(dirname(name), target) : name;
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
      if (anchor) expect(anchorsOf(path)).toContain(anchor);
    }
  });
});
