/** The report of a task of problems: exact match first, no word that is true of text only. */
import { createTaskRegistry, reversal, textTask } from '@posenc/tasks';
import { describe, expect, it } from 'vitest';
import { cautions } from '../src/report/cautions.ts';
import { findings } from '../src/report/findings.ts';
import { read } from '../src/report/reading.ts';
import { renderReport } from '../src/report/report.ts';
import { scoreTable } from '../src/report/score-table.ts';
import { renderTable } from '../src/report/table.ts';
import { all, attribute, byId, hasClass, open, table, textOf } from './report-dom.ts';
import { type Invented, type InventedRow, invent, inventCurves, solved } from './report-fixtures.ts';

const shown = (invented: Invented): Record<string, string> =>
  Object.fromEntries(findings(read(invent(invented))).map(({ title, text }) => [title, text]));
const cautioned = (invented: Invented) => {
  const comparison = invent(invented);
  return cautions(read(comparison), inventCurves(comparison)).join('\n');
};
const page = (invented: Invented) => {
  const comparison = invent(invented);
  return open(renderReport(comparison, inventCurves(comparison)));
};

/** Exact matches by seed; differences to a: +0.5 in each seed at 1×, at 2× 0, 0.25, 0.5 (mean 0.25, margin 4.303 × 0.25 / √3). */
const rows: readonly InventedRow[] = [
  {
    name: 'a',
    loss: [1, 2],
    exact: [
      [0.25, 0.375, 0.5],
      [0.25, 0.25, 0.25],
    ],
  },
  {
    name: 'b',
    loss: [0.1, 2],
    shuffled: 1,
    exact: [
      [0.75, 0.875, 1],
      [0.25, 0.5, 0.75],
    ],
  },
];
const controls = [
  { name: 'unigram', loss: 2.2, accuracy: 0.2, exactMatch: 0 },
  { name: 'place', loss: 2, accuracy: 0.26, exactMatch: 0.125 },
];
const exact = { rows, controls, multiples: [1, 2], task: { type: 'reversal', digits: 5 } };

describe('what it shows', () => {
  it('who solves the task in training’s sizes, in all seeds or in some, and who beyond', () => {
    expect(shown(solved)).toMatchObject({
      'At 1× (up to 5 digits)':
        'T5 bias (100.0 %) and RoPE (99.2 %) solve it: at least 95 % of the problems exactly right in every seed. In some seeds only: ALiBi (2 of 3 seeds, mean 67.7 %). Not solved by learned (79.7 %) and NoPE (0.8 %). No clear difference to T5 bias: ALiBi.',
      'At 2× (6–10 digits)':
        'T5 bias (97.1 %) solves it: at least 95 % of the problems exactly right in every seed. Not solved by RoPE + PI (20.3 %) and ALiBi (8.3 %). Not one problem right: NoPE and RoPE. All others are clearly below T5 bias.',
      'At 3× (11–15 digits)':
        'None solves it: that would be at least 95 % exactly right. Exactly right: T5 bias (39.6 %). Not one problem right: NoPE, RoPE, RoPE + PI and ALiBi. All others are clearly below T5 bias.',
      Undefined: 'Undefined, because the encoding has no positions that far: learned (past 1×).',
      'Changed at evaluation, at 2×':
        'RoPE + PI 20.3 % against RoPE as trained: clearly higher (+20.3 points). Same weights, no fine-tuning.',
    });
  });

  it('that none extrapolates, in one finding, with what is right by token', () => {
    const none = solved.rows.map((row) => ({ ...row, overrides: [], exact: [row.exact![0]!, 0, 0] }));
    const all = shown({ ...solved, rows: none.filter(({ name }) => name !== 'learned') });
    expect(all['Beyond training']).toMatch(
      /^0 % at 2× and 3× for NoPE, RoPE, ALiBi and T5 bias: none extrapolates, not one larger problem is exactly right\. Of single answer tokens the most are right with T5 bias, 7\d\.\d % at 2×\.$/,
    );
    expect(Object.keys(all).filter((title) => /At [23]×/.test(title))).toEqual([]);
    const alone = shown({ ...exact, rows: [{ name: 'a', loss: [1, 2], exact: [1, 0] }] });
    expect(alone['Beyond training']).toMatch(
      /^0 % at 2× for a: it does not extrapolate, .* Of single answer tokens 3\d/,
    );
  });

  it('that nothing is right at all', () => {
    const all = shown({ ...exact, multiples: [1], rows: [{ name: 'a', loss: [2.2], exact: [0] }] });
    expect(all['At 1× (up to 5 digits)']).toBe('0 % for a: no problem is exactly right.');
    expect(Object.keys(all)).not.toContain('Beyond training');
  });

  it('who does not better than guessing, and whether the loss says more', () => {
    const all = (rows: readonly InventedRow[]) => shown({ ...exact, multiples: [1], rows })['Against guessing'];
    const row = (name: string, loss: number, share: number): InventedRow => ({
      name,
      loss: [[loss, loss, loss]],
      exact: [[share, share, share]],
    });
    const guess = 'The best guess that never reads the question (place) gets 12.5 % exactly right at 1×.';
    expect(all([row('a', 0.1, 0.9), row('b', 1, 0.5)])).toBe(`${guess} All 2 are clearly above that.`);
    expect(all([row('a', 0.1, 0.9), row('b', 1, 0.1), row('c', 2.1, 0.1)])).toBe(
      `${guess} a is clearly above that. Not clearly above, but with a loss clearly below the lowest loss of a control (place, 2.000): b; something is learnt. Not clearly above, nor with a loss clearly below the lowest loss of a control (place, 2.000): c; for this one the run shows noise.`,
    );
    const nothing = controls.map((control) => ({ ...control, exactMatch: 1e-5 }));
    expect(shown({ ...exact, controls: nothing })['Against guessing']).toBe(
      'Guesses that never read the question get 0.0 % exactly right at 1×. All 2 are clearly above that.',
    );
    expect(shown({ ...exact, controls: [] })).not.toHaveProperty('Against guessing');
  });

  it('with one seed gives no verdict', () => {
    const one = shown({ ...solved, seeds: [1], rows: solved.rows.filter(({ name }) => name !== 'ALiBi') });
    expect(Object.values(one).join()).not.toMatch(/clear|every seed/);
    expect(one['Changed at evaluation, at 2×']).toMatch(
      /^RoPE \+ PI 1?\d?\d\.\d % against RoPE as trained: \+\d+\.\d points\./,
    );
  });
});

describe('cautions', () => {
  it('say what an exact match is a share of, that sizes differ, where seeds part ways', () => {
    const text = cautioned(solved);
    expect(text).toContain('Exact matches are shares of 128 problems at each size');
    // √(0.25 / 128) = 4.42 %
    expect(text).toContain('by about ±4.4 points');
    expect(text).toContain('exact match falls with size even where each token is as often right as before');
    expect(text).toContain('Seeds part ways: ALiBi at 1× (6.3 % to 100.0 %).');
    expect(text).toContain('trained on 4,800 problems');
    // RoPE, RoPE + PI, ALiBi and T5 bias at three sizes, learned at one.
    expect(text).toContain('Of 13 comparisons with the baseline, 7 are clear.');
    expect(text).not.toMatch(/evaluation text|every row and length/);
    expect(cautioned(exact)).toContain('Seeds part ways: b at 2× (25.0 % to 75.0 %).');
    expect(cautioned({ ...exact, rows: [rows[0]!] })).not.toContain('part ways');
  });

  it('warn of tasks whose larger answers hold new tokens', () => {
    expect(cautioned(exact)).not.toContain('absolute positions');
    expect(cautioned({ ...exact, task: { type: 'indexing', digits: 5 } })).toContain(
      '“indexing” answers with absolute',
    );
    expect(cautioned({ ...exact, task: { type: 'indexing', digits: 5 }, multiples: [1] })).not.toContain('absolute');
  });
});

describe('the page', () => {
  const root = page(exact);

  it('has exact matches with paired differences first, then the losses', () => {
    expect(table(root, 'Exact match by problem size').slice(0, 3)).toEqual([
      ['encoding', '1×up to 5 digits', '2×6–10 digits'],
      ['abaseline', '37.5 % ± 12.5', '25.0 % ± 0.0'],
      ['b', '87.5 % ± 12.5+50.0 ± 0.0 higher', '50.0 % ± 25.0+25.0 ± 62.1 no clear difference'],
    ]);
    const names = all(root, 'section').flatMap((e) => attribute(e, 'aria-label') ?? []);
    expect(names.slice(0, 2)).toEqual(['Exact match by problem size', 'Loss by problem size']);
    expect(all(all(root, 'details')[0]!, 'section').map((e) => attribute(e, 'aria-label'))).toContain(
      'Loss by problem size',
    );
  });

  it('greens what is right, and calls more of it better', () => {
    const frame = all(root, (e) => attribute(e, 'aria-label') === 'Exact match by problem size')[0]!;
    const cells = all(frame, 'td');
    const styles = cells.flatMap((td) => attribute(td, 'style') ?? []);
    expect(styles[0]).toBe('background-color:rgb(0 150 110 / 0.158)'); // 0.42 × 0.375
    const notes = all(cells[2]!, (e) => hasClass(e, 'note'));
    expect(notes.map((e) => hasClass(e, 'lower'))).toEqual([true]);
    expect(attribute(cells[2]!, 'title')).toMatch(/ of answer tokens right · by seed: 75\.0 %, 87\.5 %, 100\.0 %$/);
  });

  it('has controls at 1× only', () => {
    const frame = all(root, (e) => attribute(e, 'aria-label') === 'Exact match by problem size')[0]!;
    expect(all(all(frame, 'tfoot')[0]!, 'tr').map(textOf)).toEqual([
      'Controls: guesses that never read the question, on the same problems',
      'unigramby frequency in answers0.0 %at 1× only',
      'placeby place in the answer12.5 %at 1× only',
      'Controls: position numbers shuffled at evaluation; below the share the difference to the same weights unshuffled',
      'b0.0 % ± 0.0−87.5 ± 31.1 lower',
    ]);
  });

  it('draws exact match from 0 to 100 % by size, and no loss by position', () => {
    expect(all(root, 'figure').map((f) => attribute(f, 'id'))).toEqual([
      'exact-match-1',
      'extrapolation-1',
      'curves',
      'costs',
    ]);
    const texts = all(all(byId(root, 'exact-match-1'), (e) => hasClass(e, 'wide'))[0]!, 'text')
      .map(textOf)
      .join(' ');
    for (const text of ['problems exactly right (%)', '0', '100', 'up to 5 digits', '6–10 digits'])
      expect(texts).toContain(text);
    expect(all(root, (e) => attribute(e, 'id') === 'window')).toEqual([]);
  });

  it('says how it was tested, and nothing that holds for text only', () => {
    const said = textOf(page(solved));
    expect(said).toContain('5 positional encodings, trained on problems of up to 5 digits, tested on up to 15');
    expect(said).toContain('300 steps of 16 problems (rows of 64 tokens, padding included), 4,800 problems per trial');
    expect(said).toContain('At 2× and 3× the problems are larger than any in training (6–10 digits and 11–15 digits)');
    expect(said).toContain('loss (nats per answer token)');
    expect(said).not.toMatch(
      /last 64|every length|every context length|not harder text|context before|more context|same targets|non-overlapping|predictors without|evaluation length/,
    );
  });
});

describe('the text tables', () => {
  it('of a comparison: exact matches, arrows up for better', () => {
    expect(renderTable(invent({ ...exact, rows: rows.map((row) => ({ ...row, shuffled: undefined })) }))).toBe(
      [
        '                  1×              2×',
        'exactly right, %  up to 5 digits  6–10 digits',
        '───────────────────────────────────────────────',
        'a                 37.5 ± 12.5     25.0 ± 0.0',
        'b                 87.5 ± 12.5 ↑   50.0 ± 25.0 ~',
        '───────────────────────────────────────────────',
        'unigram            0.0  by guessing, at 1×',
        'place             12.5  by guessing, at 1×',
        'Mean ± standard deviation over 3 seeds. Compared with a at the same size, paired by seed, 95 %:',
        '↑ clearly higher, ↓ clearly lower, ~ no clear difference.',
        'Loss and accuracy per answer token are in the report.',
      ].join('\n'),
    );
    expect(renderTable(invent(exact), { color: true })).toContain('\u001b[32m87.5 ± 12.5 ↑');
  });

  it('of train and eval: exact match, then loss and accuracy per answer token', () => {
    const task = createTaskRegistry([reversal]).create({ type: 'reversal', digits: 3 });
    const score = { loss: 0.0514, accuracy: 0.98, tokens: 200, exactMatch: 0.953 };
    const lengths = [
      { multiple: 1, length: 12, score },
      { multiple: 2, length: 24, score: null },
    ];
    expect(scoreTable([{ name: 'RoPE', lengths }], task).split('\n')).toEqual([
      '      1× (up to 3 digits)     2× (4–6 digits)',
      'RoPE  95.3 % (0.051, 98.0 %)  undefined',
      'Problems exactly right (nats per answer token, accuracy per answer token). Beyond 1× problems are larger than any in training.',
    ]);
    const { exactMatch: _, ...plain } = score;
    const texts = scoreTable(
      [{ name: 'RoPE', lengths: [{ ...lengths[0]!, score: plain }] }],
      textTask('to be '.repeat(40)),
    );
    expect(texts.split('\n')).toEqual([
      '      1× (12)',
      'RoPE  0.051 (98.0 %)',
      'Nats per token over the same targets at every length (accuracy).',
    ]);
  });
});
