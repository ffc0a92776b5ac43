import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spread } from '../src/labels.ts';
import { formatNumber, integerTicks, tickFormat } from '../src/numbers.ts';
import { thin } from '../src/series.ts';
import { fitText, textWidth, wrapText } from '../src/text.ts';

describe('spread', () => {
  it('leaves labels where they are when they fit', () => {
    expect(spread([50, 10, 90], [10, 10, 10], 0, 100)).toEqual([50, 10, 90]);
  });

  it('moves a pair apart around its middle, and off the edges', () => {
    expect(spread([50, 50], [10, 10], 0, 100)).toEqual([45, 55]);
    expect(spread([0, 1], [10, 10], 0, 100)).toEqual([5, 15]);
    expect(spread([100, 99, 98], [10, 20, 10], 0, 100)).toEqual([95, 80, 65]);
  });

  it('never lets two meet or leave the area if they fit, and keeps their order', () => {
    const labels = fc.array(fc.tuple(fc.double({ min: -50, max: 450, noNaN: true }), fc.integer({ min: 5, max: 30 })), {
      minLength: 1,
      maxLength: 13,
    });
    fc.assert(
      fc.property(labels, (items) => {
        const [wanted, heights] = [items.map((i) => i[0]), items.map((i) => i[1])];
        const centres = spread(wanted, heights, 0, 400);
        const order = centres.map((_, i) => i).sort((a, b) => centres[a]! - centres[b]!);
        const edges = order.map((i) => [centres[i]! - heights[i]! / 2, centres[i]! + heights[i]! / 2] as const);
        edges.forEach(([top], n) => {
          expect(top).toBeGreaterThanOrEqual((edges[n - 1]?.[1] ?? 0) - 1e-6);
          if (n > 0) expect(wanted[order[n]!]).toBeGreaterThanOrEqual(wanted[order[n - 1]!]!);
        });
        expect(edges.at(-1)![1]).toBeLessThanOrEqual(400 + 1e-6);
      }),
      { seed: 1 },
    );
  });
});

describe('numbers', () => {
  it.each([
    [0, '0'],
    [2.348, '2.35'],
    [2.5, '2.5'],
    [-0.001234, '−0.00123'],
    [999.6, '1,000'],
    [47116.3, '47,100'],
    [-1234567, '−1.23M'],
    [3e8, '300M'],
    [1.2e9, '1.2B'],
    [5e12, '5T'],
    [9.999e14, '1000T'],
    [999999, '1M'],
    [123456, '123,000'],
    [1e-9, '10⁻⁹'],
    [2.5e-12, '2.5×10⁻¹²'],
    [1e21, '10²¹'],
    [Number.NaN, 'undefined'],
    [Number.POSITIVE_INFINITY, '∞'],
  ])('%d reads %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  it.each([
    [
      [2, 2.5, 3],
      ['2.0', '2.5', '3.0'],
    ],
    [
      [0, 50, 100],
      ['0', '50', '100'],
    ],
    [
      [-1e4, 0, 1e4],
      ['−10,000', '0', '10,000'],
    ],
    [
      [0, 5e8, 1e9],
      ['0', '0.5B', '1.0B'],
    ],
    [
      [2e-12, 4e-12],
      ['2×10⁻¹²', '4×10⁻¹²'],
    ],
    [
      [1e9, 1e9 + 1, 1e9 + 2],
      ['1.000000000B', '1.000000001B', '1.000000002B'],
    ],
  ])('ticks %j read %j', (ticks, labels) => {
    expect(ticks.map(tickFormat(ticks))).toEqual(labels);
  });

  it('integer ticks are whole, even and few', () => {
    expect(integerTicks(0, 255, 10)).toEqual([0, 50, 100, 150, 200, 250]);
    expect(integerTicks(-3, 3, 7)).toEqual([-3, -2, -1, 0, 1, 2, 3]);
    expect(integerTicks(-150, 150, 6)).toEqual([-150, -100, -50, 0, 50, 100, 150]);
    expect(integerTicks(5, 5, 1)).toEqual([5]);
  });
});

describe('text', () => {
  it('is measured wider for wide letters', () => {
    expect(textWidth('WWW', 12)).toBeGreaterThan(2 * textWidth('iii', 12));
    expect(textWidth('漢字', 12)).toBeGreaterThanOrEqual(24);
    expect(textWidth('a', 24)).toBeCloseTo(2 * textWidth('a', 12));
  });

  it('is shortened in the middle and never cut through a character', () => {
    const short = fitText('RoPE base 10000, evaluated with NTK', 120, 12);
    expect(short).toMatch(/^RoPE.*….*NTK$/);
    expect(textWidth(short, 12)).toBeLessThanOrEqual(120);
    expect(fitText('👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 45, 12)).toBe('👩‍👩‍👧‍👦…👩‍👩‍👧‍👦');
    expect(fitText('W', 5, 12)).toBe('…');
    expect(fitText('fits', 500, 12)).toBe('fits');
  });

  it('is wrapped into lines that fit', () => {
    const words = 'one two three four five six seven eight nine ten';
    const lines = wrapText(words, 120, 12, 9);
    expect(lines.join(' ')).toBe(words);
    for (const line of lines) expect(textWidth(line, 12)).toBeLessThanOrEqual(120);
    expect(wrapText(words, 120, 12, 2)).toHaveLength(2);
    expect(wrapText(words, 120, 12, 2).join(' ')).toMatch(/^one two .*….*ten$/);
    expect(wrapText('  ', 120, 12, 2)).toEqual([]);
  });
});

describe('thin', () => {
  it('keeps first, last and extremes of each column', () => {
    const run = Array.from({ length: 100 }, (_, x) => ({ x, y: x === 13 ? 99 : x === 57 ? -99 : 0 }));
    expect(thin(run, (x) => x / 50).map((p) => p.x)).toEqual([0, 13, 49, 50, 57, 99]);
  });

  it('keeps the extremes of the spread as well', () => {
    const at = (x: number, y: number, low: number, high: number) => ({ x, y, spread: [low, high] as const });
    const run = [at(0, 0, 0, 0), at(1, 5, 4, 6), at(2, 0, -9, 9), at(3, -5, -6, -4), at(4, 0, 0, 0), at(5, 0, 0, 0)];
    expect(thin(run, () => 0).map((p) => p.x)).toEqual([0, 1, 2, 3, 5]);
  });

  it('keeps everything when there are as many columns as points', () => {
    const run = Array.from({ length: 10 }, (_, x) => ({ x, y: x }));
    expect(thin(run, (x) => x)).toEqual(run);
  });
});
