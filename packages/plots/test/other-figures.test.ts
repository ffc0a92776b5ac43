import { describe, expect, it } from 'vitest';
import { barChart, componentCurves, FigureError, unitCircle } from '../src/index.ts';
import { range } from './samples.ts';
import { all, number, parse, texts } from './svg.ts';

describe('barChart', () => {
  const bars = [
    { name: 'RoPE', value: 220 },
    { name: 'T5', value: 330, low: 320, high: 340 },
    { name: 'none', value: undefined },
    { name: 'NoPE', value: 110 },
  ];
  const draw = (more = {}) => barChart({ title: 'T', x: { label: 'ms' }, bars, ...more });
  const rects = (svg: string) => all(parse(svg), 'rect').slice(1);

  it('draws lengths in proportion from zero, one row each', () => {
    const [rope, t5, nope] = rects(draw());
    expect(number(t5!, 'width') / number(rope!, 'width')).toBeCloseTo(1.5, 2);
    expect(number(nope!, 'width') / number(rope!, 'width')).toBeCloseTo(0.5, 2);
    expect(number(rope!, 'x')).toBe(number(t5!, 'x'));
    expect(number(t5!, 'y')).toBeGreaterThan(number(rope!, 'y') + number(rope!, 'height'));
  });

  it('writes values, ratios to the baseline, and "undefined"', () => {
    expect(texts(draw())).toEqual(expect.arrayContaining(['220', '330', 'undefined', '110']));
    expect(texts(draw({ baseline: 'NoPE' }))).toEqual(expect.arrayContaining(['220 (2×)', '330 (3×)', '110']));
  });

  it('draws negative values to the left of zero', () => {
    const [a, b] = rects(
      barChart({
        title: 'T',
        x: { label: '' },
        bars: [
          { name: 'a', value: -2 },
          { name: 'b', value: 1 },
        ],
      }),
    );
    expect(number(a!, 'x') + number(a!, 'width')).toBeCloseTo(number(b!, 'x'), 1);
  });

  it('refuses what it cannot draw', () => {
    expect(() => draw({ bars: [] })).toThrow(FigureError);
    expect(() => draw({ bars: [{ name: 'a', value: Number.NaN }] })).toThrow(
      /^barChart 'T': no bar has a finite value/,
    );
    expect(() => draw({ baseline: 'none' })).toThrow(
      /baseline 'none' is no bar with a value; those are RoPE, T5, NoPE/,
    );
    expect(() => draw({ bars: range(0, 200).map((i) => ({ name: `${i}`, value: i })) })).toThrow(
      /201 bars are more than 200/,
    );
  });
});

describe('componentCurves', () => {
  const positions = range(0, 99);
  const wave = (name: string, wavelength: number) => ({
    name,
    wavelength,
    values: positions.map((p) => Math.sin((2 * Math.PI * p) / wavelength)),
  });
  const draw = (more = {}) =>
    componentCurves({
      title: 'T',
      positions,
      components: [wave('fast', 10), wave('slow', 400), wave('middle', 33)],
      ...more,
    });

  it('writes every wavelength and the longest in bold', () => {
    const svg = draw();
    const bold = all(parse(svg), 'text')
      .filter((t) => t.getAttribute('font-weight') === '700')
      .map((t) => t.textContent);
    expect(bold).toEqual(['slow', '400']);
    expect(texts(svg)).toEqual(expect.arrayContaining(['10', '33', 'wavelength (positions)']));
  });

  it('tints one wavelength, at most the width shown', () => {
    const widths = all(parse(draw()), 'rect')
      .slice(1)
      .map((r) => number(r, 'width'));
    expect(widths[0]! / widths[2]!).toBeCloseTo(10 / 33, 3);
    expect(widths[1]! / widths[0]!).toBeCloseTo(9.9, 3);
  });

  it('refuses what it cannot draw', () => {
    expect(() => draw({ components: [] })).toThrow(FigureError);
    expect(() => draw({ components: [] })).toThrow(/^componentCurves 'T': no component has a finite value/);
    expect(() => draw({ positions: [0, 1] })).toThrow(/component 'fast' has 100 values for 2 positions/);
    expect(() => draw({ components: [wave('a', -1)] })).toThrow(/wavelength -1; it must be above zero/);
    expect(() => draw({ components: range(1, 65).map((k) => wave(`${k}`, k)) })).toThrow(
      /65 components are more than 64/,
    );
  });
});

describe('unitCircle', () => {
  const draw = (angles: readonly number[], more = {}) =>
    unitCircle({ title: 'T', pairs: [{ name: 'pair', angles }], ...more });

  it('puts position 1 of a quarter turn on top: counter-clockwise, y upward', () => {
    const root = parse(draw([0, Math.PI / 2]));
    const radius = number(all(root, 'circle')[0]!, 'r');
    const dot = (n: number) =>
      all(root, 'circle').find((c) => c.firstChild?.textContent?.startsWith(`position ${n}:`))!;
    expect([number(dot(0), 'cx'), number(dot(0), 'cy')]).toEqual([radius, 0]);
    expect([number(dot(1), 'cx'), number(dot(1), 'cy')]).toEqual([0, -radius]);
  });

  it('numbers the positions where there is room, first and last always', () => {
    expect(texts(draw(range(0, 5)))).toEqual(expect.arrayContaining(['0', '1', '2', '3', '4', '5']));
    const crowded = texts(draw(range(0, 199).map((p) => p * 0.03)));
    expect(crowded).toEqual(expect.arrayContaining(['0', '199']));
    expect(crowded.length).toBeLessThan(60);
    expect(texts(draw([0, 1e-5, 2e-5], { start: 7 }))).toContain('7 … 9');
  });

  it('points the arrow the way positions turn', () => {
    const sweep = (step: number) => /A[\d.]+,[\d.]+ 0 (\d) (\d)/.exec(draw([0, step, 2 * step]))!.slice(1);
    expect(sweep(1)).toEqual(['0', '0']);
    expect(sweep(-1)).toEqual(['0', '1']);
    expect(sweep(5)).toEqual(['1', '0']);
    expect(sweep(1e-4)).toEqual(['0', '0']);
  });

  it('says the step and its period', () => {
    expect(texts(draw([0, 0.5, 1]))).toEqual(expect.arrayContaining(['0.5 rad per position', 'once round in 12.6']));
    expect(texts(draw([0, 0, 0]))).toContain('stands still');
    expect(texts(draw([0, 1, 3]))).toContain('steps differ');
  });

  it('refuses what it cannot draw', () => {
    expect(() => draw([])).toThrow(FigureError);
    expect(() => draw([Number.NaN])).toThrow(/^unitCircle 'T': no pair has a finite angle/);
    expect(() => draw(range(0, 256))).toThrow(/257 positions are more than 256/);
    const pairs = range(1, 25).map((i) => ({ name: `${i}`, angles: [i] }));
    expect(() => unitCircle({ title: 'T', pairs })).toThrow(/25 pairs are more than 24/);
  });
});
