import { describe, expect, it } from 'vitest';
import { cautions } from '../src/report/cautions.ts';
import { findings } from '../src/report/findings.ts';
import { read } from '../src/report/reading.ts';
import { type Invented, type InventedRow, invent, inventCurves } from './report-fixtures.ts';

const shown = (invented: Invented): Record<string, string> =>
  Object.fromEntries(findings(read(invent(invented))).map(({ title, text }) => [title, text]));
const cautioned = (invented: Invented) => {
  const comparison = invent(invented);
  return cautions(read(comparison), inventCurves(comparison)).join('\n');
};
/** Three seeds that spread by ±0.01 around a level, the same way for every row: differences between rows have no spread. */
const around = (...levels: number[]) => levels.map((level) => [level - 0.01, level, level + 0.01]);
const at12 = { multiples: [1, 2] };

describe('at the shortest length', () => {
  it('names the lowest, who is clearly higher, who is not', () => {
    const rows = [
      { name: 'low', loss: [[2, 2, 2]] },
      { name: 'tied', loss: [[2.1, 1.9, 2.05]] },
      { name: 'high', loss: [[2.1, 2.11, 2.09]] },
    ];
    expect(shown({ rows, multiples: [1] })['At 1× (64 characters)']).toBe(
      'low has the lowest loss, 2.000 nats per character. Clearly higher: high (+0.100). No clear difference to it: tied (+0.017).',
    );
  });

  it('says when nobody stands out', () => {
    const rows = [
      { name: 'a', loss: [[2, 2.1, 2.2]] },
      { name: 'b', loss: [[2.2, 2.1, 2.1]] },
    ];
    expect(shown({ rows, multiples: [1] })['At 1× (64 characters)']).toBe(
      'a has the lowest loss, 2.100 nats per character. No clear difference between it and b (+0.033).',
    );
  });

  it('with one seed only reads the numbers out', () => {
    const rows = [
      { name: 'b', loss: [[2.5]] },
      { name: 'a', loss: [[2]] },
    ];
    const all = shown({ rows, multiples: [1], seeds: [4] });
    expect(all['At 1× (64 characters)']).toBe('a has the lowest loss, 2.000 nats per character. Then come b (+0.500).');
    expect(Object.values(all).join()).not.toMatch(/clear/);
  });
});

describe('at the longest length', () => {
  it('holds only who surely stays within 0.05 nats, and ranks overrides too', () => {
    const rows: InventedRow[] = [
      { name: 'flat', loss: around(2.2, 2.2) },
      { name: 'falls', loss: around(2.3, 2.1) },
      { name: 'edge', loss: around(2.2, 2.25) },
      { name: 'over', loss: around(2.2, 2.252), overrides: [{ name: 'helped', loss: around(2.2, 2.05) }] },
      {
        name: 'wild',
        loss: [
          [2.2, 2.2, 2.2],
          [2.1, 2.2, 2.3],
        ],
      },
    ];
    const all = shown({ rows, ...at12 });
    expect(all['At 2× (128 characters)']).toBe(
      'helped (2.050), falls (2.100), flat (2.200) and edge (2.250) still hold: at most 0.05 nats above their own loss at 1×. The lowest loss is that of helped, 2.050. No clear difference to it: wild.',
    );
    expect(all['From 1× to 2×']).toBe(
      'The loss of over (+0.052) climbs from 1× to 2×. No clear trend over 3 seeds: wild (0.000).',
    );
    expect(all['Changed at evaluation, at 2×']).toBe(
      'helped 2.050 against over as trained: clearly lower (−0.202). Same weights, no fine-tuning.',
    );
  });

  it('says when none holds', () => {
    const rows = [
      { name: 'a', loss: around(2, 2.5) },
      { name: 'b', loss: around(2, 3) },
    ];
    expect(shown({ rows, ...at12 })['At 2× (128 characters)']).toBe(
      'None still holds: all are, or may be, more than 0.05 nats above their own loss at 1×. The lowest loss is that of a, 2.500. All others are clearly higher.',
    );
  });

  it('tells who rises above the unigram, and from which length on', () => {
    const rows = [
      { name: 'blown', loss: around(2.2, 3.3, 3.6, 5) },
      {
        name: 'almost',
        loss: [
          [2.2, 2.2, 2.2],
          [2.3, 2.3, 2.3],
          [3, 3, 3],
          [3.3, 3.4, 3.45],
        ],
      },
    ];
    expect(shown({ rows })['From 1× to 8×']).toBe(
      'The loss of almost (+1.183) climbs from 1× to 8×. blown (5.000, from 4× on) goes above the unigram (3.350): worse than ignoring the context altogether.',
    );
  });

  it('speaks of no unigram where the task brings none', () => {
    const rows = [{ name: 'blown', loss: around(2.2, 9) }];
    const all = shown({ rows, ...at12, controls: [] });
    expect(all['From 1× to 2×']).toBe('The loss of blown (+6.800) climbs from 1× to 2×.');
    expect(Object.keys(all)).toEqual(['At 1× (64 characters)', 'At 2× (128 characters)', 'From 1× to 2×']);
  });

  it('lists what is undefined and what diverged', () => {
    const rows = [
      { name: 'learned', loss: [...around(2.2), null] },
      { name: 'bad', loss: around(2, 2), diverged: [1, 3] },
    ];
    expect(shown({ rows, ...at12 })['Undefined, Diverged']).toBe(
      'Undefined, because the encoding has no positions that far: learned (past 1×). Training diverged: bad (2 of 3 seeds).',
    );
  });

  it('with one seed decides by the number alone', () => {
    const rows = [
      { name: 'a', loss: [[2], [2.04]] },
      { name: 'b', loss: [[2], [2.06]] },
      { name: 'c', loss: [[2], [3.4]] },
    ];
    const all = shown({ rows, ...at12, seeds: [1] });
    expect(all['At 2× (128 characters)']).toBe(
      'a (2.040) still holds: at most 0.05 nats above its own loss at 1×. It also has the lowest loss.',
    );
    expect(all['From 1× to 2×']).toBe(
      'The loss of b (+0.060) climbs from 1× to 2×. c (3.400, from 2× on) goes above the unigram (3.350): worse than ignoring the context altogether.',
    );
  });
});

describe('against the bigram', () => {
  const title = 'Against the bigram (2.480)';

  it('all below', () => {
    const rows = [
      { name: 'a', loss: around(2.2) },
      { name: 'b', loss: around(2.3) },
    ];
    expect(shown({ rows, multiples: [1] })[title]).toBe(
      'All 2 end clearly below it at 1×, by 0.180 (b) to 0.280 (a) nats: more is learnt than which character follows which.',
    );
  });

  it('some not below, or not clearly: noise for these', () => {
    const rows = [
      { name: 'a', loss: around(2.2) },
      { name: 'near', loss: [[2.3, 2.4, 2.6]] },
      { name: 'above', loss: around(2.6) },
    ];
    expect(shown({ rows, multiples: [1] })[title]).toBe(
      '1 of 3 end clearly below it at 1×, by 0.280 nats. Not clearly below: near (2.433) and above (2.600); for these the run shows noise.',
    );
  });

  it('none below: the run shows noise', () => {
    const rows = [
      { name: 'a', loss: around(2.6) },
      { name: 'b', loss: around(2.7) },
    ];
    expect(shown({ rows, multiples: [1] })[title]).toBe(
      'Not one is clearly below it at 1×: nothing here has learnt more than which character follows which. This run shows noise; train longer before reading anything into the order.',
    );
    expect(shown({ rows: [{ name: 'a', loss: [[2.6]] }], multiples: [1], seeds: [1] })[title]).toMatch(
      /^Not one is below it at 1×/,
    );
  });
});

describe('shuffled positions', () => {
  it('tell who reads its positions', () => {
    const rows = [
      { name: 'none', loss: around(2.2), shuffled: 0 },
      { name: 'reads', loss: around(2.2), shuffled: 1 },
      { name: 'unmeasured', loss: around(2.2) },
    ];
    const text = shown({ rows, multiples: [1] })['With shuffled position numbers']!;
    expect(text).toMatch(
      /^The loss at 1× clearly rises for reads \(\+(0\.9|1\.0)\d\d\): these models read their positions\. Not clearly higher for none \(0\.000\)\.$/,
    );
  });
});

it('at most six findings, whatever the comparison holds', () => {
  const rows = [
    { name: 'a', loss: around(2.2, 2.6), shuffled: 1, overrides: [{ name: 'o', loss: around(2.2, 2.3) }] },
    { name: 'learned', loss: [...around(2.2), null], shuffled: 1 },
    { name: 'bad', loss: around(2, 2), diverged: [1] },
  ];
  expect(Object.keys(shown({ rows, ...at12 }))).toEqual([
    'At 1× (64 characters)',
    'At 2× (128 characters)',
    'From 1× to 2×',
    'Changed at evaluation, at 2×',
    'Against the bigram (2.480)',
    'With shuffled position numbers',
  ]);
});

describe('cautions', () => {
  const rows = [
    { name: 'a', loss: around(2.2, 2.2) },
    {
      name: 'b',
      loss: [
        [2.2, 2.2, 2.2],
        [2.3, 2.3, 2.3],
      ],
    },
  ];

  it('speak of seeds, comparisons, size and the sample', () => {
    const text = cautioned({ rows, ...at12 });
    expect(text).toContain('3 seeds: a difference is called clear when the 95 % interval');
    expect(text).toContain('2 degrees of freedom');
    expect(text).toContain('“not enough seeds”');
    expect(text).toContain(
      'Of 2 comparisons with the baseline, 1 is clear. At 95 % about 1 of 2 would look clear by chance alone.',
    );
    expect(text).toContain('A small model (104 thousand parameters), trained on 307 thousand characters');
    expect(text).toContain('One learning rate and schedule for all may suit some encodings better than others.');
    expect(text).toContain('Each loss is a mean over 2,048 characters');
    expect(text).not.toMatch(/baseline, a, has no loss|own:|No training metrics|no control rows/);
  });

  it('count what chance alone would make look clear', () => {
    const many = Array.from({ length: 11 }, (_, i) => ({ name: `row ${i}`, loss: around(2, 2 + i, 2, 2) }));
    expect(cautioned({ rows: many })).toContain(
      'Of 40 comparisons with the baseline, 10 are clear. At 95 % about 2 of 40 would look clear by chance alone.',
    );
  });

  it('refuse verdicts to one seed', () => {
    const text = cautioned({
      rows: [
        { name: 'a', loss: [[2]] },
        { name: 'b', loss: [[2]] },
      ],
      multiples: [1],
      seeds: [1],
    });
    expect(text).toMatch(/^One seed: .* no difference in this report has a verdict/);
    expect(text).not.toContain('comparisons with the baseline');
  });

  it('name unequal budgets and settings of an entry’s own', () => {
    const text = cautioned({ rows: [rows[0]!, { ...rows[1]!, training: { learningRate: 0.01 } }], ...at12 });
    expect(text).toContain('With settings of their own: b (learningRate 0.01).');
    expect(text).not.toContain('One learning rate');
    const same = { ...rows[1]!, training: { learningRate: 0.003 } };
    expect(cautioned({ rows: [rows[0]!, same], ...at12 })).not.toContain('of their own');
    const unequal = invent({ rows, ...at12 });
    const trials = unequal.trials.map((t, i) => (i === 0 ? { ...t, tokens: 1024 } : t));
    expect(cautions(read({ ...unequal, trials }), []).join()).toContain(
      'Not all were trained on the same number of tokens.',
    );
  });

  it('say that a baseline is gone, that there are no controls, that metrics are missing', () => {
    expect(cautioned({ rows: [{ ...rows[0]!, diverged: [1] }, rows[1]!], ...at12 })).toContain(
      'The baseline, a, has no loss',
    );
    expect(cautioned({ rows, ...at12, controls: [] })).toContain('no control rows');
    expect(cautions(read(invent({ rows, ...at12, seeds: [1, 2, 3] })), []).join()).toContain(
      'No training metrics found, so no loss curve: a (seed 1), b (seed 1), a (seed 2), b (seed 2), a (seed 3) and b (seed 3).',
    );
  });
});
