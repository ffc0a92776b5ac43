import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderTable } from '../src/report/table.ts';
import { type InventedRow, invent, published } from './report-fixtures.ts';

/** b − a: 0.1, 0.11, 0.09 (clear); at 2× 0.3, −0.3, 0.1 (not); c − a: −0.5 at 1×, undefined past it. */
const rows: readonly InventedRow[] = [
  {
    name: 'a',
    loss: [
      [2, 2.1, 2.2],
      [12, 12.1, 12.2],
    ],
    overrides: [
      {
        name: 'a + PI',
        loss: [
          [2, 2.1, 2.2],
          [3, 3.1, 3.2],
        ],
      },
    ],
  },
  {
    name: 'b',
    loss: [
      [2.1, 2.21, 2.29],
      [12.3, 11.8, 12.3],
    ],
  },
  { name: 'c', type: 'learned', loss: [[1.5, 1.6, 1.7], null] },
  {
    name: 'd',
    loss: [
      [2, 2, 2],
      [2, 2, 2],
    ],
    diverged: [3],
  },
];
const comparison = invent({ rows, multiples: [1, 2] });

describe('the text table', () => {
  it('aligns means and spreads, marks clear differences, says what has no value, ends in controls and a legend', () => {
    expect(renderTable(comparison)).toBe(
      [
        '                    1×               2×',
        'nats per character  64               128',
        '─────────────────────────────────────────────────────',
        'a                   2.100 ± 0.100    12.100 ± 0.100',
        '  a + PI            2.100 ± 0.100 ~   3.100 ± 0.100 ↓',
        'b                   2.200 ± 0.095 ↑  12.133 ± 0.289 ~',
        'c                   1.600 ± 0.100 ↓  undefined',
        'd                   diverged         diverged',
        '─────────────────────────────────────────────────────',
        'unigram             3.350  at every length',
        'bigram              2.480  at every length',
        'Mean ± standard deviation over 3 seeds. Compared with a at the same length, paired by seed, 95 %:',
        '↓ clearly lower, ↑ clearly higher, ~ no clear difference.',
      ].join('\n'),
    );
  });

  it('with one seed shows neither spreads nor marks', () => {
    expect(renderTable(invent({ rows: rows.slice(1, 3), multiples: [1, 2], seeds: [1], controls: [] }))).toBe(
      [
        '                    1×     2×',
        'nats per character  64     128',
        '────────────────────────────────────',
        'b                   2.100  12.300',
        'c                   1.500  undefined',
        '────────────────────────────────────',
        'One seed: no verdict on any difference.',
      ].join('\n'),
    );
  });

  it('lists shuffled positions with the rise they cause', () => {
    const lines = renderTable(invent({ rows: [{ name: 'x', loss: [2], shuffled: 0 }], multiples: [1] })).split('\n');
    expect(lines.find((line) => line.startsWith('positions shuffled'))).toMatch(
      /^positions shuffled, 1×: x \d\.\d{3} \(0\.000\)$/,
    );
  });

  it('fits 100 columns with the usual four lengths and two-digit losses', () => {
    const usual = renderTable(invent({ rows: published, baseline: 'NoPE' })).split('\n');
    for (const line of usual) expect(line.length).toBeLessThanOrEqual(100);
    expect(usual.find((line) => line.startsWith('RoPE '))).toContain(' ± ');
  });

  it.each([40, 50, 60, 80, 100, 140])('keeps to %d columns, with long names shortened in the middle', (width) => {
    const long = published.map((r) => ({
      ...r,
      name: `${r.name} with a name that is longer than any column, ${r.type}`,
    }));
    const text = renderTable(invent({ rows: long }), { width });
    const wide = Math.max(54, width);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(wide);
    expect(text).toContain('…');
    expect(text).toContain('rope');
    expect(text.includes('± 0.0')).toBe(width >= 80);
    expect(text.replace(/\s+/g, ' ').includes('Spreads are in the report.')).toBe(width < 80);
  });

  it('colours only when asked to, and changes no character by it', () => {
    expect(renderTable(comparison)).toBe(stripVTControlCharacters(renderTable(comparison)));
    const coloured = renderTable(comparison, { color: true });
    expect(coloured).toContain('\u001b[32m1.600 ± 0.100 ↓\u001b[39m');
    expect(coloured).toContain('\u001b[31m2.200 ± 0.095 ↑\u001b[39m');
    expect(stripVTControlCharacters(coloured).replace(/ +$/gm, '')).toBe(renderTable(comparison));
  });

  it('is the same from results.json, and leaks no value that is none', () => {
    const odd = invent({
      rows: [
        rows[0]!,
        {
          name: 'huge',
          loss: [
            [2, 2, 2],
            [1e9, Number.NaN, 1],
          ],
        },
      ],
      multiples: [1, 2],
    });
    const text = renderTable(odd);
    expect(renderTable(JSON.parse(JSON.stringify(odd)) as typeof odd)).toBe(text);
    expect(text).toMatch(/huge .* not finite$/m);
    expect(text).not.toMatch(/NaN|\[object|Infinity|null/);
  });
});
