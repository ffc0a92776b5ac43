import { describe, expect, it } from 'vitest';
import { type CartesianData, FigureError, lineChart, type Point, stepChart } from '../src/index.ts';
import { range } from './samples.ts';
import { all, number, parse, texts } from './svg.ts';

const axes = { x: { label: 'x' }, y: { label: 'y' } };
const chart = (points: readonly Point[], more: Partial<CartesianData> = {}) =>
  lineChart({ title: 'T', ...axes, series: [{ name: 'a', points }], ...more });
const series = (name: string, y: readonly number[]) => ({ name, points: y.map((value, x) => ({ x, y: value })) });
/** The paths inside the clipped plotting area, without axes and labels. */
const marks = (svg: string) => {
  const window = all(parse(svg), 'g').find((g) => g.getAttribute('clip-path'))!;
  return all(window, 'path');
};
const strokes = (svg: string) => marks(svg).filter((p) => p.getAttribute('stroke-linejoin') === 'round');
const bands = (svg: string) => marks(svg).filter((p) => p.getAttribute('fill-opacity'));
const markers = (svg: string) => marks(svg).filter((p) => p.getAttribute('transform'));
const coordinates = (d: string) =>
  [...d.matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])] as const);

type Six = [number, number, number, number, number, number];

describe('lines', () => {
  it('go through the points in proportion, y upward', () => {
    const svg = chart([0, 1, 3].map((x) => ({ x, y: x * 10 })));
    const [x0, y0, x1, y1, x2, y2] = coordinates(strokes(svg)[0]!.getAttribute('d')!).flat() as Six;
    expect((x2 - x0) / (x1 - x0)).toBeCloseTo(3, 2);
    expect((y2 - y0) / (y1 - y0)).toBeCloseTo(3, 2);
    expect(y2).toBeLessThan(y0);
  });

  it('put doublings at equal distances on a log2 axis', () => {
    const points = [64, 128, 256, 512].map((x) => ({ x, y: 1 + x / 64 }));
    const xs = coordinates(strokes(chart(points, { x: { label: 'x', scale: 'log2' } }))[0]!.getAttribute('d')!).map(
      (p) => p[0],
    );
    const gaps = xs.slice(1).map((x, i) => x - xs[i]!);
    for (const gap of gaps) expect(gap).toBeCloseTo(gaps[0]!, 0);
  });

  it.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY])('break where y is %s', (hole) => {
    const svg = chart([0, 1, 2, 3, 4].map((x) => ({ x, y: x === 2 ? hole : x })));
    expect(strokes(svg).map((p) => coordinates(p.getAttribute('d')!).length)).toEqual([2, 2]);
    expect(markers(svg)).toHaveLength(4);
  });

  it('leave out a point without an x', () => {
    const svg = chart([0, Number.NaN, 2].map((x) => ({ x, y: 1 })));
    expect(strokes(svg)).toHaveLength(1);
    expect(markers(svg)).toHaveLength(2);
  });

  it('mark a lone point between gaps of a long series', () => {
    const points = range(0, 99).map((x) => ({ x, y: x === 49 || x === 51 ? null : x }));
    const lone = markers(chart(points)).map((m) => m.getAttribute('transform'));
    const without = markers(chart(points.filter((p) => p.x !== 50))).map((m) => m.getAttribute('transform'));
    expect(lone.length).toBe(without.length + 1);
  });

  it('of any length stay small and keep their extremes', () => {
    const points = range(0, 199_999).map((x) => ({ x, y: x === 123_456 ? 9 : Math.sin(x) }));
    const svg = chart(points);
    expect(svg.length).toBeLessThan(60_000);
    const top = Math.min(...coordinates(strokes(svg)[0]!.getAttribute('d')!).map((p) => p[1]));
    const drawn = coordinates(strokes(svg)[0]!.getAttribute('d')!).filter((p) => p[1] === top);
    expect(drawn).toHaveLength(1);
  });
});

describe('spreads', () => {
  const spread = (x: number) => ({ x, y: x, low: x - 1, high: x + 1 });

  it('are error bars on short series and a band on long ones', () => {
    const short = chart(range(0, 3).map(spread));
    expect(bands(short)).toHaveLength(0);
    expect(marks(short).filter((p) => /^M[^M]*h6M[^M]*V[^M]*M[^M]*h6$/.test(p.getAttribute('d')!))).toHaveLength(4);
    expect(bands(chart(range(0, 99).map(spread)))).toHaveLength(1);
  });

  it('break with the line, and where one side is missing', () => {
    const points = range(0, 99).map((x) =>
      x === 30 ? { x, y: null } : x === 60 ? { ...spread(x), high: null } : spread(x),
    );
    const svg = chart(points);
    expect(strokes(svg)).toHaveLength(2);
    expect(bands(svg).map((b) => b.getAttribute('d')!.split('Z').length - 1)).toEqual([1, 2]);
  });

  it('of several series stand side by side', () => {
    const points = range(0, 3).map(spread);
    const svg = lineChart({ title: 'T', ...axes, series: ['a', 'b', 'c'].map((name) => ({ name, points })) });
    const xs = markers(svg).map((m) => /\(([\d.]+),/.exec(m.getAttribute('transform')!)![1]);
    expect(new Set(xs).size).toBe(12);
  });
});

describe('labels', () => {
  it('name every series and reference, and say what is not drawn', () => {
    const svg = lineChart({
      title: 'T',
      x: {
        label: 'length',
        scale: 'log2',
        ticks: [
          { value: 64, label: '1×\n64' },
          { value: 128, label: '2×\n128' },
        ],
      },
      y: { label: 'loss', domain: [undefined, 3.5] },
      series: [
        {
          name: 'explodes',
          points: [
            { x: 64, y: 2.3 },
            { x: 128, y: 6.02 },
          ],
        },
        {
          name: 'learned',
          points: [
            { x: 64, y: 2.2 },
            { x: 128, y: undefined },
          ],
        },
        { name: 'empty', points: [] },
        {
          name: 'fine',
          points: [
            { x: 64, y: 2.2 },
            { x: 128, y: 2.4 },
          ],
        },
      ],
      references: [
        { y: 3.35, label: 'unigram' },
        { y: 4.2, label: 'uniform' },
      ],
    });
    const found = texts(svg);
    for (const text of ['fine', 'unigram', '1×', '64', '2×', '128']) expect(found).toContain(text);
    const joined = found.join(' ');
    for (const text of ['explodes ↑ 6.02', 'learned (no value past 1×)', 'empty (no value)', 'uniform ↑ 4.2'])
      expect(joined).toContain(text);
  });

  it('of 200 series stay readable: some from best to worst, and how many more', () => {
    const many = range(1, 200).map((i) => series(`s${i}`, [0, i]));
    const found = texts(lineChart({ title: 'T', ...axes, series: many }));
    expect(found).toContain('s1');
    expect(found).toContain('s200');
    expect(found).toContain('and 175 more');
    expect(found.filter((t) => /^s\d+$/.test(t))).toHaveLength(25);
  });

  it('escape markup and what XML cannot hold', () => {
    const svg = lineChart({ title: '<b>&"', ...axes, series: [series('a<b>&"c"\u0001\ud800', [1, 2])] });
    expect(texts(svg)).toContain('a<b>&"c"\ufffd\ufffd');
    expect(texts(svg)).toContain('<b>&"');
    expect(svg.includes('<b>')).toBe(false);
  });
});

describe('styles', () => {
  const looks = (svg: string, name: string) => {
    const group = all(parse(svg), 'g').filter((g) => g.firstChild?.textContent === name)[0]!;
    const path = all(group, 'path').find((p) => p.getAttribute('stroke-linejoin'))!;
    const marker = all(group, 'path').find((p) => p.getAttribute('transform'))!;
    return {
      color: path.getAttribute('stroke'),
      dash: path.getAttribute('stroke-dasharray'),
      marker: marker.getAttribute('d'),
    };
  };
  const names = ['a', 'b', 'c'];

  it('differ in colour and, for greyscale, in marker', () => {
    const svg = lineChart({ title: 'T', ...axes, series: range(0, 15).map((i) => series(`s${i}`, [i, i])) });
    const all16 = range(0, 15).map((i) => looks(svg, `s${i}`));
    expect(new Set(all16.slice(0, 8).map((l) => l.color)).size).toBe(8);
    expect(new Set(all16.slice(0, 8).map((l) => l.marker)).size).toBe(8);
    expect(new Set(all16.map((l) => `${l.marker} ${l.dash}`)).size).toBe(16);
  });

  it('follow `names`: a series keeps its look in a figure without the others', () => {
    const full = lineChart({ title: 'T', ...axes, series: names.map((n) => series(n, [1, 2])) }, { names });
    const part = lineChart({ title: 'T', ...axes, series: [series('c', [1, 2])] }, { names });
    expect(looks(part, 'c')).toEqual(looks(full, 'c'));
    expect(looks(part, 'c').color).not.toBe(looks(full, 'a').color);
  });

  it('give variants the colour of their family, dashes, and markers of their own', () => {
    const variants = range(0, 5).map((i) => `a, changed ${i}`);
    const order = { names: ['a', 'b', ...variants] };
    const drawn = [series('a', [1, 2]), ...variants.map((n) => ({ ...series(n, [2, 3]), variantOf: 'a' }))];
    const svg = lineChart({ title: 'T', ...axes, series: drawn }, order);
    const family = ['a', ...variants].map((n) => looks(svg, n));
    expect(new Set(family.map((l) => l.color)).size).toBe(1);
    expect(family.map((l) => l.dash !== null)).toEqual([false, true, true, true, true, true, true]);
    expect(new Set(family.map((l) => l.marker)).size).toBe(7);
    const stranger = lineChart(
      { title: 'T', ...axes, series: [{ ...series('x', [1, 2]), variantOf: 'nobody' }] },
      order,
    );
    expect(looks(stranger, 'x').dash).toBe('7 3');
  });

  it('show dashed and muted', () => {
    const svg = lineChart({
      title: 'T',
      ...axes,
      series: [{ ...series('a', [1, 2]), dashed: true }, { ...series('b', [1, 3]), muted: true }, series('c', [1, 4])],
    });
    expect(looks(svg, 'a').dash).not.toBe(looks(svg, 'c').dash);
    const grey = /^#(\w\w)(\w\w)(\w\w)$/
      .exec(looks(svg, 'b').color!)!
      .slice(1)
      .map((h) => Number.parseInt(h, 16));
    expect(Math.max(...grey) - Math.min(...grey)).toBeLessThan(20);
  });
});

describe('verticals', () => {
  const points = [64, 128, 256].map((x) => ({ x, y: x }));
  const draw = (verticals: CartesianData['verticals']) =>
    chart(points, { x: { label: 'x', scale: 'log2' }, verticals });
  const uprights = (svg: string) => marks(svg).filter((p) => /^M[\d.]+,[\d.]+v[\d.]+$/.test(p.getAttribute('d')!));

  it('stand at their x, named above the plotting area', () => {
    const svg = draw([{ x: 128, label: 'training <length>' }]);
    const [, middle] = coordinates(strokes(svg)[0]!.getAttribute('d')!).map((p) => p[0]) as [number, number];
    expect(uprights(svg)).toHaveLength(1);
    expect(coordinates(uprights(svg)[0]!.getAttribute('d')!)[0]![0]).toBeCloseTo(middle, 0);
    expect(texts(svg)).toContain('training <length>');
    expect(all(parse(svg), 'desc')[0]!.textContent).toMatch(/vertical line training <length> at 128\.$/);
  });

  it('are left out beyond the data', () => {
    const svg = draw([
      { x: 32, label: 'far' },
      { x: 512, label: 'away' },
      { x: Number.NaN, label: 'nowhere' },
    ]);
    expect(svg).toBe(draw(undefined));
  });

  it('that stand too close are all drawn, and named as far as there is room', () => {
    const svg = draw([
      { x: 128, label: 'first of two long names' },
      { x: 129, label: 'second of two long names' },
    ]);
    expect(uprights(svg)).toHaveLength(2);
    expect(texts(svg)).toContain('first of two long names');
    expect(texts(svg)).not.toContain('second of two long names');
  });
});

describe('tick labels', () => {
  const ticked = (labels: readonly string[]) => {
    const ticks = labels.map((text, value) => ({ value, label: text }));
    const found = texts(
      chart(
        labels.map((_, x) => ({ x, y: 1 })),
        { x: { label: '', ticks } },
      ),
    );
    return labels.filter((text) => found.includes(text));
  };

  it('are thinned evenly when they would meet', () => {
    const shown = ticked(range(0, 29).map((i) => `tick ${i}`)).map((t) => Number(t.slice(5)));
    expect(shown.length).toBeGreaterThan(5);
    expect(shown.length).toBeLessThan(30);
    expect(new Set(shown.slice(1).map((n, i) => n - shown[i]!)).size).toBe(1);
  });

  it('keep one when not even two fit', () => {
    const ticks = [50, 51].map((value) => ({ value, label: `a long label ${value}` }));
    const found = texts(
      chart(
        range(0, 99).map((x) => ({ x, y: 1 })),
        { x: { label: '', ticks } },
      ),
    );
    expect(found.filter((t) => t.startsWith('a long'))).toEqual(['a long label 50']);
  });
});

describe('stepChart', () => {
  it('jumps half-way between whole numbers', () => {
    const svg = stepChart({ title: 'T', ...axes, series: [series('a', [0, 0, 1])] });
    const points = coordinates(strokes(svg)[0]!.getAttribute('d')!);
    const [left, right] = [points[0]![0], points.at(-1)![0]];
    const jump = points.find((p, i) => i > 0 && p[0] === points[i - 1]![0] && p[1] !== points[i - 1]![1])!;
    expect((jump[0] - left) / (right - left)).toBeCloseTo(0.75, 2);
    expect(texts(svg)).not.toContain('0.5');
  });
});

describe('refusals', () => {
  const refused = (draw: () => string, message: RegExp) => {
    expect(draw).toThrow(FigureError);
    expect(draw).toThrow(RangeError);
    expect(draw).toThrow(message);
  };

  it('say what is wrong, where, and what to do', () => {
    refused(() => chart([]), /^lineChart 'T': no series has a finite point/);
    refused(() => chart([{ x: 1, y: Number.NaN }]), /no series has a finite point/);
    refused(() => lineChart({ title: 'T', ...axes, series: [] }), /no series has a finite point/);
    refused(
      () => chart([{ x: 0, y: 1 }], { x: { label: '', scale: 'log2' } }),
      /^lineChart 'T', x: a log2 scale cannot show 0; use positive/,
    );
    refused(() => chart([{ x: 1, y: -2 }], { y: { label: '', scale: 'log10' } }), /y: a log10 scale cannot show −2/);
    refused(
      () => chart([{ x: 1, y: 5 }], { y: { label: '', domain: [6, undefined] } }),
      /y\.domain \[6,5\] shows nothing/,
    );
    refused(
      () =>
        chart([
          { x: 1, y: 1.7e308 },
          { x: 2, y: -1.7e308 },
        ]),
      /too far apart/,
    );
    refused(
      () => lineChart({ title: 'T', ...axes, series: [series('a', [1])] }, { width: 100 }),
      /width 100 is not between 360/,
    );
    refused(
      () => lineChart({ title: 'T', ...axes, series: [series('a', [1])] }, { plotHeight: Number.NaN }),
      /plotHeight NaN/,
    );
  });
});

describe('options', () => {
  const data = { title: 'T', ...axes, series: [series('a', [1, 2])] };

  it('set size, ids and description', () => {
    const root = parse(
      lineChart(data, { width: 900, plotHeight: 500, idPrefix: 'loss', description: 'What <you> see.' }),
    );
    expect(number(root, 'width')).toBe(900);
    expect(number(root, 'height')).toBe(number(parse(lineChart(data)), 'height') + 180);
    expect(root.getAttribute('aria-labelledby')).toBe('loss-title loss-desc');
    expect(all(root, 'desc')[0]!.textContent).toBe('What <you> see.');
  });

  it('describe the data unless told otherwise', () => {
    expect(all(parse(lineChart(data)), 'desc')[0]!.textContent).toBe('Line chart of y over x. a: 1 at 0, 2 at 1.');
  });
});
