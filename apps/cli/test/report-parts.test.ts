import { describe, expect, it } from 'vitest';
import { binned, smoothed } from '../src/report/binning.ts';
import { compact, duration, fixed, listed, rough, signed } from '../src/report/format.ts';
import { escapeHtml, html, join, raw } from '../src/report/html.ts';

describe('html', () => {
  it('escapes text, keeps markup, joins lists, drops what is absent', () => {
    const name = '<b>&"\'';
    expect(
      html`<i title="${name}">${name}${raw('<br>')}${[html`<u>${'<'}</u>`, 'x']}${false}${undefined}</i>`.markup,
    ).toBe('<i title="&lt;b&gt;&amp;&quot;&#39;">&lt;b&gt;&amp;&quot;&#39;<br><u>&lt;</u>x</i>');
    expect(join(['<', html`<hr>`], ', ').markup).toBe('&lt;, <hr>');
  });

  it('replaces what HTML cannot hold', () => {
    expect(escapeHtml('a\u0000b\ud800c\u001b\ufffe\td\ne😀')).toBe('a\ufffdb\ufffdc\ufffd\ufffd\td\ne😀');
  });
});

describe('numbers', () => {
  it.each([
    [2.18049, '2.180'],
    [-0.0004, '0.000'],
    [-0.0006, '−0.001'],
    [152.34, '152.3'],
    [12345.6, '12,346'],
    [3.14e9, '3.1e+9'],
    [Number.NaN, 'not finite'],
    [Number.POSITIVE_INFINITY, 'not finite'],
  ])('%d reads %s', (value, text) => {
    expect(fixed(value, 3)).toBe(text);
  });

  it('carry their sign where it matters', () => {
    expect([signed(0.1, 2), signed(-0.1, 2), signed(0, 2)]).toEqual(['+0.10', '−0.10', '0.00']);
  });

  it('are rounded in running text', () => {
    expect([950, 9_999, 107_200, 3_240_000, 7e9].map(rough)).toEqual([
      '950',
      '9,999',
      '107 thousand',
      '3.2 million',
      '7.0 billion',
    ]);
    expect([107_200, 3_240_000].map(compact)).toEqual(['107k', '3.2M']);
    expect([0.0123, 12.34, 95, 240, 7260].map(duration)).toEqual(['12 ms', '12.3 s', '95.0 s', '4 min', '2 h 1 min']);
  });

  it('come in lists that end', () => {
    expect([listed([]), listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'], 2)]).toEqual([
      '',
      'a',
      'a and b',
      'a and 2 more',
    ]);
    expect(listed(['a, b', 'c (from 4×, on)', 'd'])).toBe('a, b; c (from 4×, on); and d');
  });
});

describe('bins of positions', () => {
  it('end at quarters of octaves, hold at least four positions, and have an edge at the training length', () => {
    const values = Array.from({ length: 512 }, (_, t) => (t < 64 ? 1 : 2));
    const points = binned(values, 64);
    expect(new Set(points.map((p) => p.y))).toEqual(new Set([1, 2]));
    expect(points.filter((p) => p.y === 2)).toHaveLength(12);
    expect(points.slice(0, 4).map((p) => p.x)).toEqual([2, 6.3, 10.8, 16.3]);
  });

  it.each([
    [3, 64],
    [5, 64],
    [64, 64],
    [65, 64],
    [127, 100],
    [800, 100],
    [7, 2],
  ])('of %d positions, trained on %d, hold each once', (n, L) => {
    const values = Array.from({ length: n }, (_, t) => t);
    const points = binned(values, L);
    for (const [i, p] of points.entries()) {
      expect(p.x).toBeGreaterThan(i === 0 ? 0 : points[i - 1]!.x);
      expect(p.y).toBeGreaterThan(i === 0 ? -1 : points[i - 1]!.y!);
    }
    const flat = binned(
      values.map(() => 7),
      L,
    );
    expect(flat.every((p) => p.y === 7)).toBe(true);
  });

  it('never mix both sides of the training length, where no edge falls on it by itself', () => {
    for (const L of [5, 10, 11, 37, 100]) {
      const points = binned(
        Array.from({ length: 8 * L }, (_, t) => (t < L ? 1 : 2)),
        L,
      );
      expect(new Set(points.map((p) => p.y))).toEqual(new Set([1, 2]));
    }
  });

  it('are gaps where a loss is no number', () => {
    expect(binned([1, 1, 1, null, 2, 2, 2, 2], 8).map((p) => p.y)).toEqual([Number.NaN, 2]);
  });
});

describe('loss curves', () => {
  const curve = (seed: number, losses: readonly (number | null)[]) => ({
    name: 'a',
    seed,
    points: losses.map((loss, i) => ({ step: i + 1, loss })),
  });

  it('are means over windows, then over seeds, with the range over seeds', () => {
    expect(smoothed([curve(1, [4, 2, 3, 1]), curve(2, [6, 4, 2, 0])], 2)).toEqual([
      { x: 1.5, y: 4, low: 3, high: 5 },
      { x: 3.5, y: 1.5, low: 1, high: 2 },
    ]);
  });

  it('go on with the seeds that are left, and break where a loss is no number', () => {
    expect(smoothed([curve(1, [4, 2, 3, 1]), curve(2, [6, 4])], 2)[1]).toEqual({ x: 3.5, y: 2 });
    expect(smoothed([curve(1, [4, null, 3, 1])], 2).map((p) => p.y)).toEqual([Number.NaN, 2]);
  });
});
