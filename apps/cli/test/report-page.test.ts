import type { Comparison } from '@posenc/training';
import { describe, expect, it } from 'vitest';
import { renderReport } from '../src/report/report.ts';
import { all, attribute, byId, hasClass, open, pieces, table, textOf } from './report-dom.ts';
import { type Invented, type InventedRow, invent, inventCurves, ngrams, published, solved } from './report-fixtures.ts';

const hostile = '<img src=x onerror=alert(1)> & "quotes" \'single\' </style><script>alert(2)</script> \ud800';
const row = (name: string) => published.find((r) => r.name === name)!;
const plain = published.filter((r) => r.name !== 'learned').map((r): InventedRow => ({ ...r, overrides: [] }));
const many = Array.from({ length: 12 }, (_, i): InventedRow => {
  const like = published[i % 6]!;
  const name = `${like.name}, which has a name so long that no table was made for it, number ${i + 1}`;
  const overrides = [1, 2].map((k) => ({ name: `${name}, changed in way ${k}`, loss: like.loss }));
  return { ...like, name, overrides };
});

const cases: Readonly<Record<string, Invented>> = {
  'the usual': { rows: published, baseline: 'NoPE' },
  'one seed': { rows: published, baseline: 'NoPE', seeds: [7] },
  'one encoding': { rows: [row('ALiBi')] },
  'one encoding, one seed, one length': { rows: [{ ...row('ALiBi'), loss: [2.2] }], seeds: [0], multiples: [1] },
  'undefined past 1×': { rows: [row('learned'), row('RoPE')] },
  'only an encoding undefined past 1×': { rows: [row('learned')] },
  'a diverged seed': { rows: published.map((r) => (r.name === 'ALiBi' ? { ...r, diverged: [2] } : r)) },
  'a diverged baseline': { rows: [{ ...row('RoPE'), diverged: [1, 2, 3] }, row('ALiBi')] },
  'all diverged': { rows: [{ ...row('ALiBi'), diverged: [1, 2, 3] }] },
  'twelve with overrides and long names': { rows: many },
  'no overrides': { rows: plain },
  'no controls': { rows: plain.map((r) => ({ ...r, shuffled: undefined })), controls: [], task: { type: 'copy' } },
  'hostile names': {
    rows: [
      { ...row('RoPE'), name: hostile, overrides: [{ name: `${hostile}2`, loss: row('ALiBi').loss }] },
      row('ALiBi'),
    ],
    description: hostile,
    provenance: { command: hostile, [hostile]: hostile, nested: { a: [hostile] }, missing: undefined, none: null },
  },
  'a loss that overflows': { rows: [row('ALiBi'), { name: 'huge', loss: [2.3, 60, 1e9, Number.NaN] }] },
  'no loss that is a number': { rows: [{ name: 'lost', loss: [Number.NaN, Number.NaN] }], multiples: [1, 2] },
  'tiny losses': {
    rows: [
      { name: 'a', loss: [0.0012, 0.002, 0.9, 3] },
      { name: 'b', loss: [0.0005, 0.0004, 0.0004, 0.0004] },
    ],
    noise: 0.00001,
  },
  'problems, some solved': solved,
  'problems, one seed, none solved': {
    rows: [{ name: 'a', loss: [2, 3], exact: [[0], [0]] }],
    multiples: [1, 2],
    seeds: [1],
  },
  'problems, a diverged seed': {
    ...solved,
    rows: solved.rows.map((r) => (r.name === 'NoPE' ? { ...r, diverged: [2] } : r)),
  },
  'problems of sizes beyond training only': { ...solved, multiples: [3, 2], controls: [] },
  'lengths not in order and without 1×': { rows: plain, multiples: [8, 2] },
};

const render = (comparison: Comparison, curves = inventCurves(comparison)) => renderReport(comparison, curves);

describe.each(Object.entries(cases))('the page of %s', (_, invented) => {
  const comparison = invent(invented);
  const page = render(comparison);
  const root = open(page);

  it('is well-formed, and every heading, table, figure is labelled', () => {
    expect(attribute(root, 'lang')).toBe('en');
    expect(all(root, 'title').filter((t) => textOf(t).startsWith(comparison.suite.name))).toHaveLength(1);
    expect(all(root, 'h1')).toHaveLength(1);
    for (const th of all(root, 'th')) expect(attribute(th, 'scope')).toMatch(/^(row|col|rowgroup)$/);
    for (const t of all(root, 'table')) expect(textOf(all(t, 'caption')[0]!)).not.toBe('');
    for (const figure of all(root, 'figure')) {
      expect(textOf(all(figure, 'figcaption')[0]!)).not.toBe('');
      expect(all(figure, 'svg').map((svg) => attribute(svg, 'role'))).toEqual(['img', 'img']);
    }
    const ids = all(root).flatMap((e) => attribute(e, 'id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const frames = all(root, 'section').flatMap((e) => attribute(e, 'aria-label') ?? []);
    expect(new Set(frames).size).toBe(frames.length);
  });

  it('leaks no value that is none', () => {
    for (const text of pieces(root)) expect(text).not.toMatch(/\bNaN\b|\[object|Infinity|∞|\bnull\b/);
    const cells = all(root, 'td').filter((td) => textOf(td).includes('undefined'));
    for (const td of cells) expect(textOf(td)).toBe('undefined');
    const hasNone = comparison.rows.some((r) => r.cells.some((cell) => cell.status === 'undefined'));
    expect(cells.length > 0).toBe(hasNone);
    if (!hasNone) for (const text of pieces(root)) expect(text).not.toMatch(/undefined/i);
  });

  it('asks for nothing outside itself and runs nothing', () => {
    expect(
      all(root, (e) => ['script', 'link', 'img', 'iframe', 'object', 'embed', 'base', 'form'].includes(e.tagName)),
    ).toEqual([]);
    for (const e of all(root))
      for (const { name, value } of e.attrs) {
        expect(name).not.toMatch(/^(on|src)/);
        if (name === 'href') expect(value).toMatch(/^(results\.json|resolved\.json|\.\/[\w%.!~*'()/-]+\/)$/);
      }
    const names = 'xmlns="http://www.w3.org/2000/svg"';
    expect(page.replaceAll(names, '')).not.toMatch(/https?:|@import|url\((?!#)/i);
    expect(
      attribute(all(root, (e) => attribute(e, 'http-equiv') === 'Content-Security-Policy')[0]!, 'content'),
    ).toMatch(/^default-src 'none'/);
  });

  it('is the same every time, also from results.json', () => {
    expect(render(comparison)).toBe(page);
    expect(render(JSON.parse(JSON.stringify(comparison)) as Comparison, inventCurves(comparison))).toBe(page);
  });

  it('is small and keeps the paths of this machine to itself', () => {
    expect(page.length).toBeLessThan(1_500_000);
    expect(page).not.toContain('/somewhere/on');
  });
});

/** Differences to a: 0.10, 0.11, 0.09 → mean 0.1, sd 0.01, margin 4.303 × 0.01 / √3 = 0.025. At 2×: 0.3, −0.3, 0.1 → unclear. */
const exact: readonly InventedRow[] = [
  {
    name: 'a',
    type: 'alibi',
    loss: [
      [2, 2.1, 2.2],
      [2, 2.1, 2.2],
    ],
    milliseconds: 100,
    overrides: [{ name: 'a, changed', loss: [[2, 2.1, 2.2], null] }],
  },
  {
    name: 'b',
    type: 'nope',
    loss: [
      [2.1, 2.21, 2.29],
      [2.3, 1.8, 2.3],
    ],
    parameters: 1024,
    shuffled: 1,
  },
];

describe('the loss table', () => {
  const comparison = invent({ rows: exact, multiples: [1, 2] });
  const root = open(render(comparison));
  const rows = table(root, 'Loss by evaluation length');

  it('shows mean, standard deviation, paired difference with its margin, verdict', () => {
    expect(rows[0]).toEqual(['encoding', '1×64 characters', '2×128 characters']);
    expect(rows[1]).toEqual(['abaseline', '2.100 ± 0.100', '2.100 ± 0.100']);
    expect(rows[2]).toEqual(['a, changedweights of a', '2.100 ± 0.1000.000 ± 0.000 no clear difference', 'undefined']);
    expect(rows[3]).toEqual([
      'bcontrol: no positions',
      '2.200 ± 0.095+0.100 ± 0.025 higher',
      '2.133 ± 0.289+0.033 ± 0.759 no clear difference',
    ]);
  });

  it('has the controls in its foot', () => {
    const foot = all(all(root, (e) => attribute(e, 'aria-label') === 'Loss by evaluation length')[0]!, 'tfoot')[0]!;
    expect(all(foot, 'tr').map(textOf)).toEqual([
      'Controls: predictors without context, on the same targets',
      'unigramfrom counts of characters3.350at every length',
      'bigramfrom counts of character pairs2.480at every length',
      'Controls: position numbers shuffled at evaluation; below the loss the difference to the same weights unshuffled',
      expect.stringMatching(/^b3\.1\d\d ± 0\.\d{3}\+0\.9\d\d ± 0\.\d{3} higher$/),
    ]);
  });

  it('tints by the distance to the baseline’s loss at 1×', () => {
    const cells = all(all(root, (e) => attribute(e, 'aria-label') === 'Loss by evaluation length')[0]!, 'td');
    const styles = cells.map((td) => attribute(td, 'style')).filter((s) => s !== undefined);
    expect(styles[0]).toMatch(/\/ 0\.000\)$/);
    expect(styles[3]).toMatch(/^background-color:rgb\(230 110 20 \/ 0\.1/);
  });

  it('keeps the weights’ owner above each override', () => {
    const bodies = all(all(root, (e) => attribute(e, 'aria-label') === 'Loss by evaluation length')[0]!, 'tbody');
    expect(bodies.map((body) => all(body, 'tr').map((tr) => hasClass(tr, 'override')))).toEqual([
      [false, true],
      [false],
    ]);
  });

  it('gives perplexity, bits and the seeds’ values on hover', () => {
    const titles = all(root, 'td').map((td) => attribute(td, 'title'));
    expect(titles).toContain('perplexity 8.17 · 3.03 bits per character · by seed: 2.000, 2.100, 2.200');
  });

  it('comes with accuracy and perplexity', () => {
    expect(table(root, 'Accuracy by evaluation length').slice(1)).toEqual([
      ['abaseline', '37.2 % ± 1.8', '37.2 % ± 1.8'],
      ['a, changedweights of a', '37.2 % ± 1.8', 'undefined'],
      ['bcontrol: no positions', '35.4 % ± 1.7', '36.6 % ± 5.2'],
      ['Controls: predictors without context, on the same targets'],
      ['unigramfrom counts of characters', '15.2 %', 'at every length'],
      ['bigramfrom counts of character pairs', '27.1 %', 'at every length'],
    ]);
    expect(table(root, 'Perplexity by evaluation length')[1]).toEqual(['abaseline', '8.173.03 bits', '8.173.03 bits']);
  });

  it('says that one seed gives no verdict', () => {
    const single = table(
      open(render(invent({ rows: exact, multiples: [1, 2], seeds: [1] }))),
      'Loss by evaluation length',
    );
    expect(single[3]).toEqual(['bcontrol: no positions', '2.100+0.100 no verdict', '2.300+0.300 no verdict']);
  });

  it('reads "diverged" with the number of seeds', () => {
    const rows = [
      { ...exact[0]!, overrides: [] },
      { ...exact[1]!, diverged: [2, 3] },
    ];
    const cells = table(open(render(invent({ rows, multiples: [1, 2] }))), 'Loss by evaluation length');
    expect(cells[2]).toEqual(['bcontrol: no positions', 'diverged2 of 3 seeds', 'diverged2 of 3 seeds']);
  });

  it('says "not finite" where a loss is no number, and draws no verdict from it', () => {
    const rows = [
      exact[0]!,
      {
        name: 'huge',
        loss: [
          [2, 2, 2],
          [Number.NaN, 2, 2],
        ],
      },
    ];
    const cells = table(open(render(invent({ rows, multiples: [1, 2] }))), 'Loss by evaluation length');
    expect(cells[3]![2]).toBe('not finite ± not finite');
  });
});

describe('the figures', () => {
  const ids = (invented: Invented) => all(open(render(invent(invented))), 'figure').map((f) => attribute(f, 'id'));
  const svgText = (root: ReturnType<typeof open>, figure: string) =>
    all(all(byId(root, figure), (e) => hasClass(e, 'wide'))[0]!, 'text').map(textOf);

  it('are extrapolation, positions, curves and costs', () => {
    expect(ids(cases['the usual']!)).toEqual(['extrapolation-1', 'positions-1', 'curves', 'costs']);
  });

  it('split when there are more rows than can be told apart', () => {
    expect(ids({ rows: many })).toEqual([
      'extrapolation-1',
      'extrapolation-2',
      'extrapolation-3',
      'extrapolation-4',
      'positions-1',
      'positions-2',
      'positions-3',
      'positions-4',
      'curves',
      'costs',
    ]);
  });

  it('name every row, both controls, the lengths; cut what explodes and say so', () => {
    const root = open(render(invent(cases['the usual']!)));
    const said = svgText(root, 'extrapolation-1');
    for (const name of ['RoPE', 'RoPE, PI at evaluation', 'ALiBi', 'T5 bias', 'NoPE', 'unigram', 'bigram', '1×', '512'])
      expect(said).toContain(name);
    expect(said).toContain('learned (no value past 1×)');
    expect(said.find((text) => text.startsWith('sinusoidal'))).toMatch(/^sinusoidal ↑ 6/);
    expect(textOf(byId(root, 'extrapolation-1'))).toMatch(/The axis is cut at 4\.\d{3}/);
    expect(svgText(root, 'positions-1')).toContain('training length 64');
    expect(svgText(root, 'costs').some((text) => /\(1\.\d+×\)/.test(text))).toBe(true);
  });

  it('are not cut when nothing explodes', () => {
    const root = open(render(invent({ rows: [row('ALiBi'), row('T5 bias')] })));
    expect(textOf(byId(root, 'extrapolation-1'))).not.toContain('cut');
  });

  it('stand aside when there is nothing to draw', () => {
    const comparison = invent({ rows: [{ ...row('ALiBi'), diverged: [1, 2, 3] }] });
    const root = open(render(comparison, []));
    expect(all(root, 'figure').map((f) => attribute(f, 'id'))).toEqual(['costs']);
    expect(textOf(root)).toContain('No training metrics were found');
    expect(textOf(root)).toContain('Training diverged: ALiBi (3 of 3 seeds).');
  });

  it('stand aside when no loss is a number', () => {
    const root = open(render(invent(cases['no loss that is a number']!)));
    expect(all(root, 'figure').map((f) => attribute(f, 'id'))).toEqual(['costs']);
    expect(textOf(root)).toContain('No trial ended with a loss that could be compared.');
  });

  it('leave out a trial without metrics and name it', () => {
    const comparison = invent({ rows: [row('ALiBi'), row('T5 bias')], seeds: [1, 2] });
    const curves = inventCurves(comparison).filter((c) => !(c.name === 'ALiBi' && c.seed === 2));
    const root = open(render(comparison, curves));
    expect(textOf(byId(root, 'care').parentNode as never)).toContain(
      'No training metrics found, so no loss curve: ALiBi (seed 2).',
    );
    expect(svgText(root, 'curves')).toContain('ALiBi');
  });
});

describe('how to reproduce', () => {
  const comparison = invent({
    rows: exact,
    multiples: [1, 2],
    provenance: { command: 'posenc compare mine.json --workers 2', commit: '0123abc', finished: '2026-01-02' },
  });
  const trialFolders = Object.fromEntries(comparison.trials.map((t) => [t.id, `trials/${t.name} & seed${t.seed}`]));
  const root = open(renderReport(comparison, [], { trialFolders }));

  it('gives command, environment, trials and where their files are', () => {
    expect(all(root, 'code').map(textOf)).toContain('posenc compare mine.json --workers 2');
    expect(table(root, 'Environment')).toEqual([
      ['backend', 'simd relaxed'],
      ['processor', 'Abacus 9000'],
      ['commit', '0123abc'],
      ['finished', '2026-01-02'],
      ['versions', '@posenc/core 0.1.0, @tensorflow/tfjs 4.22.0'],
    ]);
    const trials = table(root, 'Trials');
    expect(trials).toHaveLength(1 + 6);
    expect(trials[1]!.slice(0, 5)).toEqual(['a', '1', 'finished', '300', '307,200']);
    expect(trials[1]!.at(-1)).toBe(comparison.trials[0]!.id);
    expect(all(root, 'a').map((a) => attribute(a, 'href'))).toContain('./trials/a%20%26%20seed1/');
  });

  it('gives a suite that can be run again', () => {
    const json = all(root, 'code')
      .map(textOf)
      .find((text) => text.startsWith('{'))!;
    expect(JSON.parse(json)).toEqual({ ...comparison.suite, task: { type: 'text', file: 'tiny-shakespeare.txt' } });
  });

  it('makes a command from the suite’s name when none was recorded', () => {
    const page = renderReport(invent({ rows: exact, multiples: [1, 2], provenance: {} }), []);
    expect(all(open(page), 'code').map(textOf)).toContain('posenc compare invented.json');
  });
});

describe('the head', () => {
  it('says what was trained and how it was scored', () => {
    const said = textOf(all(open(render(invent({ rows: published }))), 'header')[0]!);
    expect(said).toContain('6 positional encodings, trained on 64 characters, evaluated on up to 512');
    expect(said).toContain(
      'Each of 6 encodings was trained from scratch in the same causal transformer (2 layers, width 64, 4 heads, 104 thousand parameters and up) on next-token prediction on the text tiny-shakespeare.txt: 300 steps of 16 × 64 characters, 307 thousand characters per trial, 3 seeds (1, 2 and 3), on the backend simd relaxed. 2 rows in the tables use such weights with another encoding config, set at evaluation only.',
    );
    expect(said).toContain(
      'the same last 64 target characters of each window, for every context length, so longer context can only add information',
    );
    expect(said).toContain('non-overlapping windows');
  });

  it('speaks of bytes or tokens where the task has these', () => {
    const said = (task: Invented['task']) => textOf(all(open(render(invent({ rows: plain, task }))), 'header')[0]!);
    expect(said({ type: 'text', file: 'x.txt', tokenizer: 'byte' })).toContain('trained on 64 bytes');
    expect(said({ type: 'copy' })).toContain('trained on 64 tokens');
    expect(said({ type: 'copy' })).toContain('on the task “copy”');
  });
});

describe('colours', () => {
  /** Relative luminance and contrast ratio: WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio. */
  const luminance = (rgb: readonly number[]) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)) as [
      number,
      number,
      number,
    ];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a: readonly number[], b: readonly number[]) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };
  const hex = (text: string) => [1, 3, 5].map((i) => Number.parseInt(text.slice(i, i + 2), 16));

  it('keep every text on the strongest tints at a contrast of 4.5 or more, light and dark', () => {
    const page = render(
      invent({ rows: [...published, { name: 'low', loss: [0.1, 0.1, 0.1, 0.1] }], baseline: 'NoPE', controls: ngrams }),
    );
    const tints = [...page.matchAll(/background-color:rgb\((\d+) (\d+) (\d+) \/ ([\d.]+)\)/g)].map(
      (m) => m.slice(1).map(Number) as [number, number, number, number],
    );
    expect(Math.max(...tints.map((t) => t[3]))).toBeCloseTo(0.42, 2);
    expect(new Set(tints.map((t) => t.slice(0, 3).join()))).toHaveProperty('size', 2);
    const themes = [...page.matchAll(/--ground: [^}]*/g)]
      .slice(0, 2)
      .map(([block]) =>
        Object.fromEntries([...block.matchAll(/--([\w-]+): (#\w{6})/g)].map((m) => [m[1], hex(m[2]!)])),
      );
    expect(themes).toHaveLength(2);
    for (const { card, ink, lower, higher, faded } of themes) {
      expect(contrast(faded!, card!)).toBeGreaterThan(4.5);
      for (const [r, g, b, a] of tints) {
        const ground = [r, g, b].map((v, i) => v * a + card![i]! * (1 - a));
        for (const text of [ink!, lower!, higher!]) expect(contrast(text, ground)).toBeGreaterThan(4.5);
      }
    }
  });
});
