import { Resvg } from '@resvg/resvg-js';
import { convertIndexedToRgb, decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { FigureError, type HeatmapData, heatmap } from '../src/index.ts';
import { all, number, parse, texts } from './svg.ts';

const base = { title: 'T', x: { label: 'pair' }, y: { label: 'position' }, colorScale: 'diverging' } as const;
const image = (svg: string) => all(parse(svg), 'image')[0]!;

function cells(svg: string) {
  const bytes = Uint8Array.from(atob(image(svg).getAttribute('href')!.split(',')[1]!), (c) => c.charCodeAt(0));
  const png = decode(bytes);
  const rgb = convertIndexedToRgb(png);
  return {
    ...png,
    at: (row: number, col: number) => [...rgb.subarray(3 * (row * png.width + col), 3 * (row * png.width + col) + 3)],
  };
}

describe('cells', () => {
  it('are one pixel each: first row on top, first column left, red below zero, blue above, grey for no value', () => {
    const png = cells(heatmap({ ...base, rows: 2, cols: 3, data: [-1, 0, 1, Number.NaN, 0.5, -0.5] }));
    expect([png.width, png.height]).toEqual([3, 2]);
    const [red, white, blue] = [png.at(0, 0), png.at(0, 1), png.at(0, 2)] as [number[], number[], number[]];
    expect(red[0]! - red[2]!).toBeGreaterThan(60);
    expect(blue[2]! - blue[0]!).toBeGreaterThan(60);
    expect(Math.min(...white)).toBeGreaterThan(235);
    const grey = png.at(1, 0);
    expect(Math.max(...grey) - Math.min(...grey)).toBeLessThan(15);
    expect(png.at(1, 1)[2]).toBeGreaterThan(png.at(1, 1)[0]!);
    expect(png.at(1, 2)[0]).toBeGreaterThan(png.at(1, 2)[2]!);
  });

  it('saturate beyond the domain', () => {
    const png = cells(heatmap({ ...base, rows: 1, cols: 4, data: [-5, -1, 1, 5], domain: [-1, 1] }));
    expect(png.at(0, 0)).toEqual(png.at(0, 1));
    expect(png.at(0, 3)).toEqual(png.at(0, 2));
  });

  it('get lighter with the value on the sequential scale', () => {
    const png = cells(heatmap({ ...base, colorScale: 'sequential', rows: 1, cols: 3, data: [0, 5, 10] }));
    const light = [0, 1, 2].map((c) => png.at(0, c).reduce((a, b) => a + b));
    expect(light[0]).toBeLessThan(light[1]!);
    expect(light[1]).toBeLessThan(light[2]!);
  });

  it('reach the screen sharp and the right way round', () => {
    const svg = heatmap({ ...base, rows: 2, cols: 2, data: [-1, 1, 1, 1] });
    const { pixels, width } = new Resvg(svg).render();
    const box = image(svg);
    const shift = /translate\(0,([\d.]+)\)/.exec(svg)![1];
    const at = (u: number, v: number) => {
      const x = Math.round(number(box, 'x') + u * number(box, 'width'));
      const y = Math.round(Number(shift) + number(box, 'y') + v * number(box, 'height'));
      return [...pixels.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)];
    };
    expect(at(0.05, 0.05)).toEqual(at(0.45, 0.45));
    expect(at(0.55, 0.05)).toEqual(at(0.95, 0.95));
    expect(at(0.05, 0.05)[0]).toBeGreaterThan(at(0.05, 0.05)[2]! + 60);
    expect(at(0.95, 0.95)[2]).toBeGreaterThan(at(0.95, 0.95)[0]! + 60);
  });
});

describe('size', () => {
  /** Full-entropy noise: the worst input for compression (xorshift32). */
  const noise = (count: number) => {
    let state = 1;
    return Float32Array.from({ length: count }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state;
    });
  };

  it('stays below 300 kB at 512 × 256, even for noise', () => {
    expect(heatmap({ ...base, rows: 512, cols: 256, data: noise(512 * 256) }).length).toBeLessThan(300_000);
  });

  it('is bounded by sampling beyond that, and the picture says so', () => {
    const svg = heatmap({ ...base, rows: 1500, cols: 700, data: noise(1500 * 700) });
    expect(cells(svg)).toMatchObject({ width: 350, height: 500 });
    expect(texts(svg)).toContain('Drawn: every 3rd row, every 2nd column.');
  });
});

describe('axes', () => {
  it('count from `start`, positions downward', () => {
    const svg = heatmap({ ...base, x: { label: 'offset', start: -2 }, rows: 2, cols: 5, data: Array(10).fill(1) });
    expect(texts(svg)).toEqual(expect.arrayContaining(['−2', '−1', '0', '1', '2', 'position ↓', 'offset →']));
    const y = (text: string) =>
      number(
        all(parse(svg), 'text').find((t) => t.textContent === text && t.getAttribute('text-anchor') === 'end')!,
        'y',
      );
    expect(y('0')).toBeLessThan(y('1'));
  });
});

describe('refusals', () => {
  it.each<[Partial<HeatmapData>, RegExp]>([
    [{ data: [1, 2, 3] }, /^heatmap 'T': 3 values do not fill 1 rows × 2 columns/],
    [{ rows: 0, data: [] }, /do not fill/],
    [{ rows: 0.5, cols: 4 }, /do not fill/],
    [{ data: [Number.NaN, Number.POSITIVE_INFINITY] }, /no value is finite/],
    [{ domain: [1, 1] }, /domain \[1, 1\] is not \[low, high\]/],
    [{ domain: [0, Number.POSITIVE_INFINITY] }, /is not \[low, high\]/],
    [{ data: [-1.7e308, 1.7e308] }, /too far apart/],
  ])('%j', (wrong, message) => {
    const draw = () => heatmap({ ...base, rows: 1, cols: 2, data: [1, 2], ...wrong });
    expect(draw).toThrow(FigureError);
    expect(draw).toThrow(message);
  });
});
