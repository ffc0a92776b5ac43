/** Formats, answers and sizes of the tasks of problems, against the lines of their papers and other ways of working answers out. */
import { stream } from '@posenc/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Task } from '../src/index.ts';
import { type Config, checkBatches, checks, create, linesOf, smallestLength } from './lines.ts';

const training = (task: Task, rows: number, seed = 1) => {
  const length = smallestLength((n) => task.trainBatch(stream(1, 'x'), 1, n));
  return [task.trainBatch(stream(seed, 'lines'), rows, length)];
};
const testing = (task: Task, windows: number, multiple = 1, length = 512) =>
  task.evalBatches({ length: length * multiple, scored: length, longest: length * 8, windows, rowsPerBatch: 100 });

describe('formats', () => {
  // From analysis-guide (arXiv 2501.00073) and the instances of Kazemnejad 2023: the line, and tokens of the prompt where known.
  test.each<[Config & { type: string }, string, number?]>([
    [{ type: 'reversal' }, 'rev(5973245481290159)=9510921845423795\n', 22],
    [{ type: 'indexing' }, 'wherex(360465066,6)=1\n', 20],
    [{ type: 'ordering' }, 'order(74283,87234)=30241\n', 19],
    [{ type: 'ordering', reversed: true }, 'order(74283,87234)=14203\n', 19],
    [{ type: 'addition' }, '$123+456=975$', 9],
    [{ type: 'addition', reversed: false }, '$123+456=579$', 9],
    [{ type: 'parity' }, 'parity(101)=0'],
  ])('%j: %j', (config, line, prompt) => {
    checks[config.type]!(line, config);
    const { tokenizer } = create(config);
    expect(tokenizer.decode(tokenizer.encode(line))).toBe(line);
    if (prompt) expect(tokenizer.encode(line.slice(0, line.indexOf('=') + 1))).toHaveLength(prompt);
  });

  test('a wrong answer is noticed', () => {
    expect(() => checks.addition!('$123+456=579$', {})).toThrow();
    expect(() => checks.indexing!('wherex(360465066,6)=3\n', {})).toThrow();
    expect(() => checks.ordering!('order(74283,87234)=30214\n', {})).toThrow();
    expect(() => checks.sorting!('sort(ba)=ba\n', {})).toThrow();
    expect(() => checks.scan!('IN: walk left OUT: I_WALK I_TURN_LEFT\n', {})).toThrow();
    expect(() => checks['modular-addition']!('3+5+9=8', {})).toThrow();
  });

  test.each<[Config & { type: string }, string]>([
    [{ type: 'addition', digits: 2 }, '$12+34=64$'],
    [{ type: 'addition', digits: 2, format: 'sentence' }, 'Compute 1 2 + 3 4 ? The answer is 4 6.'],
    [{ type: 'reversal', digits: 4 }, 'rev(5973)=3795\n'],
    [{ type: 'indexing', digits: 3 }, 'wherex(360,6)=1\n'],
    [{ type: 'ordering', items: 3 }, 'order(742,472)=102\n'],
    [{ type: 'copy', items: 3, symbols: 13 }, 'copy(abc)=abc\n'],
    [{ type: 'copy', items: 3, symbols: 13, format: 'sentence' }, 'Copy: a b c [SEP] a b c\n'],
    [{ type: 'copy', items: 2, symbols: 13, times: 2, format: 'sentence' }, 'Copy: a b [SEP] a b [NEXT] a b\n'],
    [{ type: 'copy', items: 3, symbols: 40, variant: 'repeat', format: 'sentence' }, 'Copy: x x x [SEP] x x x\n'],
    [{ type: 'copy', items: 2, symbols: 40, variant: 'repeat', times: 2 }, 'copy(xx)=xxxx\n'],
    [
      { type: 'copy', items: 3, symbols: 36, variant: 'replace', format: 'sentence' },
      'Replace x with y in x x x [SEP] y y y\n',
    ],
    [{ type: 'copy', items: 3, symbols: 36, variant: 'replace' }, 'replace(x,y,xxx)=yyy\n'],
    [{ type: 'parity', bits: 4 }, 'parity(101)=0'],
    [
      { type: 'parity', bits: 4, format: 'sentence' },
      "Is the number of 1's even in the sequence [ 1, 0, 1 ] ? The answer is Yes.",
    ],
    [{ type: 'sorting', items: 2, symbols: 12 }, 'sort(ba)=ab\n'],
    [
      { type: 'sorting', items: 2, symbols: 12, format: 'sentence' },
      'Sort the following list [ b, a ]. The sorted list is [ a, b ].',
    ],
    [{ type: 'sorting', items: 2, symbols: 12, descending: true }, 'sort(ab)=ba\n'],
    [{ type: 'modular-addition', terms: 3 }, '3+5+9=7'],
    [{ type: 'modular-addition', terms: 3, format: 'sentence' }, 'Compute: 3 + 5 + 9 . The answer is 7 .'],
    [{ type: 'modular-addition', terms: 2, mod: 97 }, '90+17=10'],
    [{ type: 'scan' }, 'IN: jump left OUT: I_TURN_LEFT I_JUMP\n'],
  ])('%j comes up with %j', (config, line) => {
    const task = create(config);
    const wanted = (batches: Parameters<typeof linesOf>[1]) =>
      linesOf(task, batches).some(({ question, answer }) => question + answer === line);
    let found = wanted(testing(task, 3000));
    for (let seed = 0; !found && seed < 60; seed++) found = wanted(training(task, 1000, seed));
    expect(found).toBe(true);
  });
});

const shared = { testShare: fc.constantFrom(0.05, 0.1, 0.5), trainExamples: fc.constantFrom(undefined, 400) };
const lengths = fc.constantFrom('natural', 'balanced');
const format = fc.constantFrom('compact', 'sentence');
const upTo = (n: number, from = 1) => fc.integer({ min: from, max: n });
const config = (type: string, size: string, options: Record<string, fc.Arbitrary<unknown>>, most: number, least = 1) =>
  fc
    .record({ type: fc.constant(type), [size]: upTo(most, least), ...shared, ...options })
    .map((c) => ({ config: c as Config & { type: string }, size: (c as unknown as Record<string, number>)[size]! }));

/** Sizes from which both sides of the split have problems. */
const arbitraries = [
  config('addition', 'digits', { lengths, format, reversed: fc.constantFrom(undefined, true, false) }, 24, 2),
  config('reversal', 'digits', { lengths }, 24, 3),
  config('indexing', 'digits', { lengths }, 24, 3),
  config('ordering', 'items', { lengths, reversed: fc.boolean(), symbols: upTo(62, 24) }, 12, 2),
  config(
    'copy',
    'items',
    {
      variant: fc.constantFrom('random', 'repeat', 'replace'),
      times: fc.constantFrom(1, 2),
      symbols: upTo(100, 40),
      format,
    },
    24,
    3,
  ),
  config('parity', 'bits', { format }, 24, 10),
  config(
    'sorting',
    'items',
    { values: fc.constantFrom('symbols', 'numbers'), symbols: upTo(100, 20), descending: fc.boolean(), format },
    16,
    2,
  ),
  config('modular-addition', 'terms', { mod: upTo(120, 20), format }, 16, 2),
  config('scan', 'actions', {}, 24, 8),
];

describe('answers, sizes, sides', () => {
  test.each(
    arbitraries.map(
      (a, i) =>
        [
          ['addition', 'reversal', 'indexing', 'ordering', 'copy', 'parity', 'sorting', 'modular-addition', 'scan'][i]!,
          a,
        ] as const,
    ),
  )(
    '%s: whatever the options, every answer is right, sizes are as promised, no problem is on both sides',
    (_, arbitrary) => {
      fc.assert(
        fc.property(arbitrary, fc.nat(1000), ({ config, size }, seed) => {
          const task = create(config);
          const trained = checkBatches(task, config, training(task, 200, seed));
          const tested = checkBatches(task, config, testing(task, 20));
          const beyond = checkBatches(task, config, testing(task, 20, 2));
          for (const line of [...trained, ...tested]) expect(line.size).toBeLessThanOrEqual(size);
          for (const line of beyond) {
            expect(line.size).toBeGreaterThan(size);
            expect(line.size).toBeLessThanOrEqual(2 * size);
          }
          const problems = new Set(trained.map((line) => line.problem));
          expect(tested.filter((line) => problems.has(line.problem))).toEqual([]);
          expect(new Set(tested.map((line) => line.problem)).size).toBe(tested.length);
          expect(tested.length).toBeGreaterThan(0);
        }),
        { numRuns: 25, seed: 5 },
      );
    },
  );

  test('tens of thousands of training problems meet none of a thousand test problems', () => {
    for (const config of [
      { type: 'addition', digits: 2 },
      { type: 'reversal', digits: 4 },
      { type: 'indexing', digits: 4 },
      { type: 'ordering', items: 4 },
      { type: 'copy', items: 4, symbols: 10 },
      { type: 'parity', bits: 13 },
      { type: 'sorting', items: 4, symbols: 10 },
      { type: 'modular-addition', terms: 4 },
      { type: 'scan' },
    ]) {
      const task = create(config);
      const read = (batches: Parameters<typeof linesOf>[1]) =>
        linesOf(task, batches).map(({ question, answer }) => checks[config.type]!(question + answer, config).problem);
      const trained = new Set(read(training(task, 20_000)));
      const tested = read(testing(task, 1000));
      expect(trained.size).toBeGreaterThan(300);
      expect(tested.filter((problem) => trained.has(problem))).toEqual([]);
      expect(tested.length).toBeGreaterThan(50);
    }
  }, 120_000);
});

describe('distributions', () => {
  const share = <T>(items: readonly T[], of: (item: T) => boolean) => items.filter(of).length / items.length;
  const sizes = (config: Config & { type: string }, rows = 10_000) => {
    const task = create(config);
    return checkBatches(task, config, training(task, rows));
  };

  test('reversal: 90 % have 16 digits, 9 % have 15', () => {
    const lines = sizes({ type: 'reversal' });
    expect(share(lines, (l) => l.size === 16)).toBeCloseTo(0.9, 1.7);
    expect(share(lines, (l) => l.size === 15)).toBeCloseTo(0.09, 1.7);
  });

  test('indexing: 90 % have 9 digits; the answer is 0 in 20 %, 8 in 4 %', () => {
    const lines = sizes({ type: 'indexing' });
    expect(share(lines, (l) => l.size === 9)).toBeCloseTo(0.9, 1.7);
    expect(share(lines, (l) => l.answer === '0\n')).toBeCloseTo(0.2, 1.7);
    expect(share(lines, (l) => l.answer === '8\n')).toBeCloseTo(0.04, 1.7);
  });

  test('ordering: 84 % have 5 digits; of the 32491 numbers with distinct digits', () => {
    const lines = sizes({ type: 'ordering' });
    expect(share(lines, (l) => l.size === 5)).toBeCloseTo(27216 / 32491, 1.7);
    expect(share(lines, (l) => l.size === 4)).toBeCloseTo(4536 / 32491, 1.7);
    expect(share(lines, (l) => l.size === 3)).toBeCloseTo(648 / 32491, 1.7);
  });

  test('addition: 82 % of the authors’ test problems are 3 + 3 digits; balanced: every pair of lengths', () => {
    const pairs = (config: object, batches?: Parameters<typeof linesOf>[1]) => {
      const task = create({ type: 'addition', ...config });
      return linesOf(task, batches ?? training(task, 10_000)).map(({ question }) =>
        /(\d+)\+(\d+)/
          .exec(question)!
          .slice(1)
          .map((n) => n.length)
          .join('+'),
      );
    };
    expect(share(pairs({}), (p) => p === '3+3')).toBeCloseTo(0.81, 1.5);
    expect(share(pairs({}), (p) => p === '2+3')).toBeCloseTo(0.08, 1.7);
    const balanced = pairs({ lengths: 'balanced' });
    for (const pair of ['1+2', '1+3', '2+1', '2+2', '2+3', '3+1', '3+2', '3+3'])
      expect(share(balanced, (p) => p === pair)).toBeCloseTo(1 / 9, 1.5);
    const beyond = testing(create({ type: 'addition', digits: 2, lengths: 'balanced' }), 4000, 2);
    const longer = pairs({}, beyond);
    expect(new Set(longer)).toEqual(
      new Set(['3+1', '3+2', '3+3', '1+3', '2+3', '4+1', '4+2', '4+3', '4+4', '1+4', '2+4', '3+4']),
    );
    expect(share(longer, (p) => p.includes('4'))).toBeCloseTo(0.5, 1.2);
    expect(share(longer, (p) => p === '4+4')).toBeCloseTo(0.5 / 7, 1.5);
  });

  test.each([
    [{ type: 'reversal', digits: 8, lengths: 'balanced' }, 1, 8],
    [{ type: 'indexing', digits: 8, lengths: 'balanced' }, 1, 8],
    [{ type: 'ordering', items: 8, lengths: 'balanced' }, 2, 8],
    [{ type: 'copy', items: 8, symbols: 90 }, 1, 8],
    [{ type: 'sorting', items: 8 }, 2, 8],
    [{ type: 'modular-addition', terms: 8 }, 2, 8],
  ] as const)('%j: sizes %d to %d equally likely', (config, low, high) => {
    const lines = sizes(config);
    for (let size = low; size <= high; size++)
      expect(share(lines, (l) => l.size === size)).toBeCloseTo(1 / (high - low + 1), 1.5);
  });

  test('beyond training every size from (k − 1)·N + 1 to k·N', () => {
    const config = { type: 'reversal', digits: 8 };
    const task = create(config);
    for (const k of [2, 3, 4]) {
      const found = new Set(checkBatches(task, config, testing(task, 200, k)).map((l) => l.size));
      expect(found).toEqual(new Set(Array.from({ length: 8 }, (_, i) => (k - 1) * 8 + 1 + i)));
    }
  });

  test('parity: both answers are equally frequent on both sides of the split', () => {
    const task = create({ type: 'parity' });
    for (const batches of [training(task, 4000), testing(task, 1500), testing(task, 1500, 2)])
      expect(share(linesOf(task, batches), (l) => l.answer === '1')).toBeCloseTo(0.5, 1.2);
  });

  test('ordering: no x of the test is in training under another shuffle', () => {
    const config = { type: 'ordering' };
    const task = create(config);
    const trained = new Set(checkBatches(task, config, training(task, 30_000)).map((l) => l.problem));
    const tested = checkBatches(task, config, testing(task, 2000));
    expect(trained.size).toBeGreaterThan(15_000);
    expect(tested.filter((l) => trained.has(l.problem))).toEqual([]);
  }, 120_000);
});

describe('fixed-offset', () => {
  const rows = (config: object, batches: ReturnType<Task['evalBatches']>) => {
    const task = create({ type: 'fixed-offset', ...config });
    return batches.flatMap(({ tokens, targets, mask }) =>
      Array.from({ length: tokens.rows }, (_, b) => {
        const row = ({ data, cols }: typeof tokens) => [...data.subarray(b * cols, (b + 1) * cols)];
        const n = mask ? row(mask).lastIndexOf(1) + 1 : tokens.cols;
        return {
          tokens: row(tokens).slice(0, n),
          targets: row(targets).slice(0, n),
          vocabulary: task.tokenizer.vocabulary.length,
        };
      }),
    );
  };

  test('training: every place with one 3 before it, full rows without padding', () => {
    const config = { items: 12, offset: 3, symbols: 5 };
    const task = create({ type: 'fixed-offset', ...config });
    const batch = task.trainBatch(stream(1, 'x'), 50, 12);
    expect(batch.mask).toBeUndefined();
    for (const { tokens, targets, vocabulary } of rows(config, [batch])) {
      expect(vocabulary).toBe(5);
      expect(targets).toEqual([-1, -1, -1, ...tokens.slice(0, 9)]);
    }
    expect(task.trainBatch(stream(1, 'x'), 2, 15).mask).toBeDefined();
  });

  test('beyond training only the places that training has not', () => {
    const config = { items: 12, offset: 3, symbols: 5 };
    const task = create({ type: 'fixed-offset', ...config });
    for (const k of [2, 3])
      for (const { tokens, targets } of rows(config, testing(task, 50, k, 12))) {
        const trained = (k - 1) * 12;
        expect(tokens.length).toBeGreaterThan(trained);
        expect(targets).toEqual(tokens.map((_, t) => (t >= trained ? tokens[t - 3] : -1)));
      }
  });
});
