/** What all tasks of problems share: rows, split, sizes, refusals, digests, controls. */
import { fromState, PosencError, stateOf, stream } from '@posenc/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerControls, type Batch, builtInTasks, type Task } from '../src/index.ts';
import { create, linesOf, registry, smallestLength } from './lines.ts';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringContaining(message) });
const types = builtInTasks.map((plugin) => plugin.type).filter((type) => type !== 'text');
const smallest = (task: Task) => smallestLength((n) => task.trainBatch(stream(1, 'x'), 1, n));
const evaluate = (task: Task, multiple = 1, windows = 40, length = 300) =>
  task.evalBatches({ length: length * multiple, scored: length, longest: 8 * length, windows, rowsPerBatch: 16 });
const questions = (task: Task, batches: readonly Batch[]) => linesOf(task, batches).map((line) => line.question);

describe.each(types)('%s', (type) => {
  const task = create({ type });

  test('equal generators give equal batches, other ones do not; a saved state goes on', () => {
    const draw = (random: ReturnType<typeof stream>) => task.trainBatch(random, 8, 300);
    const [a, b] = [stream(1, 'data'), stream(1, 'data')];
    expect(draw(a)).toEqual(draw(b));
    const restored = fromState(JSON.parse(JSON.stringify(stateOf(a))));
    const next = draw(a);
    expect(draw(restored)).toEqual(next);
    expect(draw(stream(2, 'data'))).not.toEqual(draw(stream(1, 'data')));
  });

  test('evaluation is the same at every call, in batches of any size, and as many rows as asked for', () => {
    for (const k of [1, 2]) {
      const [sixteen, all] = [evaluate(task, k), evaluate(task, k)];
      expect(sixteen).toEqual(all);
      expect(sixteen.map((b) => b.tokens.rows)).toEqual([16, 16, 8]);
      expect(sixteen.every((b) => b.tokens.cols === 300 * k && b.targets.cols === 300 * k)).toBe(true);
      const request = { length: 300 * k, scored: 300, longest: 2400, windows: 40, rowsPerBatch: 40 };
      const [one] = task.evalBatches(request);
      expect([...one!.tokens.data]).toEqual(sixteen.flatMap((b) => [...b.tokens.data]));
    }
  });

  test('sizes are named by the multiple, bins of them touch', () => {
    const [one, two, three] = [1, 2, 3].map((k) => task.problemSizes!(k));
    expect(one!.low).toBe(1);
    expect([two!.low, three!.low]).toEqual([one!.high + 1, two!.high + 1]);
    expect([two!.high, three!.high]).toEqual([2 * one!.high, 3 * one!.high]);
    expect(one!.unit).toMatch(/^[a-z]+s$/);
  });

  test('the smallest length is named, it fits, and one less does not', () => {
    const length = smallest(task);
    expect(length).toBeGreaterThan(1);
    expect(task.trainBatch(stream(1, 'x'), 20, length).tokens.cols).toBe(length);
    for (const k of [1, 1.5, 2]) expect(evaluate(task, k, 3, 2 * length)).toHaveLength(1);
    expect(evaluate(task, 2, 3, length)).toHaveLength(1);
    expect(() => task.trainBatch(stream(1, 'x'), 20, length - 1)).toThrow(refusal(`that fits is ${length}`));
    const request = { scored: length - 1, length: length - 1, longest: length, windows: 1, rowsPerBatch: 1 };
    expect(() => task.evalBatches(request)).toThrow(refusal(`that fits is ${length}`));
  });

  test('every scored token is one that the controls know, and every token is real', () => {
    for (const batch of [task.trainBatch(stream(3, 'x'), 200, 300), ...evaluate(task, 2)]) {
      const ids = [...batch.tokens.data, ...batch.targets.data.filter((id) => id >= 0)];
      expect(ids.every((id) => id >= 0 && id < task.tokenizer.vocabulary.length)).toBe(true);
    }
    const [uniform, ...others] = task.controls(evaluate(task));
    expect(uniform!.name).toBe('uniform');
    const answers = new Set(evaluate(task, 1, 400).flatMap((b) => [...b.targets.data].filter((id) => id >= 0)));
    expect(Math.exp(uniform!.loss)).toBeGreaterThan(answers.size - 1e-6);
    expect(others.map((control) => control.name)).toEqual(['unigram', 'bigram', 'place']);
  });

  test('controls are finite at 1 and 2 times the training length, and the unigram does not beat what it cannot know', () => {
    for (const k of [1, 2])
      for (const { loss, accuracy, exactMatch } of task.controls(evaluate(task, k))) {
        expect(loss > 0 && loss < 20).toBe(true);
        expect(accuracy >= 0 && accuracy <= 1 && exactMatch! >= 0 && exactMatch! <= accuracy + 1e-9).toBe(true);
      }
    const [, unigram] = task.controls();
    const [uniform] = task.controls();
    expect(unigram!.loss).toBeLessThan(uniform!.loss + 0.02);
  });

  test('says what it is, with defaults that work', () => {
    expect(task.rowsAreProblems).toBe(true);
    expect(task.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(registry.parse({ type })).toMatchObject({ type, testShare: 0.1 });
    expect(builtInTasks.find((plugin) => plugin.type === type)!.description).not.toBe('');
  });
});

describe('rows', () => {
  test.each([
    [{ type: 'addition', digits: 2 }, 10],
    [{ type: 'addition', digits: 2, format: 'sentence' }, 11],
    [{ type: 'reversal', digits: 5 }, 16],
    [{ type: 'indexing', digits: 9 }, 21],
    [{ type: 'indexing', digits: 11 }, 24],
    [{ type: 'ordering', items: 5 }, 24],
    [{ type: 'copy', items: 6 }, 14],
    [{ type: 'copy', items: 6, times: 2 }, 21],
    [{ type: 'copy', items: 6, times: 2, variant: 'repeat', format: 'sentence' }, 20],
    [{ type: 'copy', items: 6, variant: 'replace' }, 18],
    [{ type: 'copy', items: 6, variant: 'replace', format: 'sentence' }, 18],
    [{ type: 'parity', bits: 6 }, 8],
    [{ type: 'parity', bits: 6, format: 'sentence' }, 15],
    [{ type: 'sorting', items: 4 }, 10],
    [{ type: 'sorting', items: 4, format: 'sentence' }, 17],
    [{ type: 'sorting', items: 3, values: 'numbers' }, 30],
    [{ type: 'sorting', items: 3, values: 'numbers', format: 'sentence' }, 31],
    [{ type: 'modular-addition', terms: 4 }, 8],
    [{ type: 'modular-addition', terms: 4, mod: 97, format: 'sentence' }, 11],
    [{ type: 'fixed-offset', items: 20 }, 20],
    // turn opposite left twice and turn opposite left: 8 words, 6 actions, IN: and OUT:
    [{ type: 'scan', actions: 6 }, 16],
  ])('%j: the longest row has %d tokens', (config, length) => {
    const task = create(config);
    expect(smallest(task)).toBe(length);
    const rows = [task.trainBatch(stream(1, 'x'), 4000, length + 1)].flatMap(({ tokens, mask }) =>
      Array.from({ length: tokens.rows }, (_, b) =>
        mask!.data.subarray(b * tokens.cols, (b + 1) * tokens.cols).reduce((sum, real) => sum + real, 0),
      ),
    );
    expect(rows.reduce((a, b) => Math.max(a, b))).toBe(length);
  });

  test('beyond training: the smallest training length is named', () => {
    expect(() => evaluate(create({ type: 'copy', items: 6 }), 2, 2, 12)).toThrow(
      refusal(
        'copy: problems of 12 items take up to 26 tokens, and rows have 24 at 2 times the training length: the smallest training "length" that fits is 13',
      ),
    );
  });

  test('no padding, no mask', () => {
    const task = create({ type: 'copy', items: 1, symbols: 40 });
    expect(task.trainBatch(stream(1, 'x'), 4, 4).mask).toBeUndefined();
    expect(task.trainBatch(stream(1, 'x'), 4, 5).mask).toBeDefined();
  });
});

describe('split', () => {
  test('the share that is kept for the test', () => {
    // Of all 100 two-digit sums of one-digit numbers, b + a being a + b, 55 are different.
    const sums = (testShare: number) => {
      const task = create({ type: 'addition', digits: 1, testShare });
      const request = { scored: 7, length: 7, longest: 7, windows: 1000, rowsPerBatch: 1000 };
      const tested = linesOf(task, task.evalBatches(request));
      const trained = linesOf(task, [task.trainBatch(stream(1, 'x'), 4000, 7)]);
      const key = (line: { question: string }) => /(\d)\+(\d)/.exec(line.question)!.slice(1).sort().join();
      return [tested, trained].map((lines) => new Set(lines.map(key)));
    };
    for (const share of [0.2, 0.5, 0.8]) {
      const [tested, trained] = sums(share) as [Set<string>, Set<string>];
      expect(tested.size + trained.size).toBe(55);
      expect([...tested].filter((sum) => trained.has(sum))).toEqual([]);
      expect(Math.abs(tested.size / 55 - share)).toBeLessThan(0.2);
    }
  });

  test('a fixed training set', () => {
    const task = create({ type: 'reversal', trainExamples: 7 });
    const drawn = new Set(questions(task, [task.trainBatch(stream(1, 'x'), 500, 40)]));
    expect(drawn.size).toBe(7);
    expect(new Set(questions(task, [task.trainBatch(stream(2, 'y'), 500, 40)]))).toEqual(drawn);
    const all = create({ type: 'reversal' });
    expect(new Set(questions(all, [all.trainBatch(stream(1, 'x'), 500, 40)])).size).toBe(500);
    // The test does not depend on it.
    expect(questions(task, evaluate(task))).toEqual(questions(all, evaluate(all)));
  });

  test('too few problems for both sides is said, not searched for for ever', () => {
    const one = create({ type: 'copy', items: 1, symbols: 2, testShare: 1e-4 });
    expect(() => evaluate(one)).toThrow(
      refusal('copy: no problem of up to 1 items is kept for the test: use a larger "testShare"'),
    );
    const other = create({ type: 'copy', items: 1, symbols: 2, testShare: 1 - 1e-4 });
    expect(() => other.trainBatch(stream(1, 'x'), 1, 10)).toThrow(
      refusal('copy: every problem of up to 1 items is kept for the test: use a smaller "testShare"'),
    );
    // Fewer rows than asked for when there are no more problems.
    const few = create({ type: 'parity', bits: 4, testShare: 0.5 });
    const rows = questions(few, evaluate(few, 1, 100));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.length).toBeLessThan(25);
    expect(new Set(rows).size).toBe(rows.length);
  });
});

describe('sizes between multiples', () => {
  test('a fraction above 1 keeps clear of the sizes of training', () => {
    const task = create({ type: 'parity', bits: 10 });
    const sizes = (length: number) =>
      questions(task, task.evalBatches({ length, scored: 20, longest: 60, windows: 60, rowsPerBatch: 60 })).map(
        (question) => question.length - 'parity()='.length,
      );
    expect([Math.min(...sizes(30)), Math.max(...sizes(30))]).toEqual([11, 15]);
    expect([Math.min(...sizes(50)), Math.max(...sizes(50))]).toEqual([16, 25]);
    expect(Math.max(...sizes(21))).toBe(10);
  });
});

describe('mistakes', () => {
  test.each<[object, string]>([
    [{ type: 'reversal', digits: 0 }, 'task (reversal): "digits" is 0'],
    [{ type: 'reversal', digits: 1.5 }, '"digits" is 1.5'],
    [{ type: 'reversal', digits: 1e9 }, '"digits" is 1000000000'],
    [{ type: 'reversal', digits: '16' }, '"digits" is "16"'],
    [{ type: 'reversal', digit: 3 }, 'unknown key "digit": did you mean "digits"?'],
    [{ type: 'reversal', lengths: 'uniform' }, '"lengths" is "uniform"'],
    [{ type: 'reversal', testShare: 0 }, '"testShare" is 0'],
    [{ type: 'reversal', testShare: 1 }, '"testShare" is 1'],
    [{ type: 'reversal', trainExamples: 0 }, '"trainExamples" is 0'],
    [{ type: 'addition', format: 'latex' }, '"format" is "latex"'],
    [{ type: 'copy', symbols: 101 }, '"symbols" is 101'],
    [{ type: 'copy', times: 3 }, '"times" is 3'],
    [{ type: 'modular-addition', mod: 1 }, '"mod" is 1'],
    [{ type: 'modular-addition', terms: 1 }, '"terms" is 1'],
    [{ type: 'scan', actions: 49 }, '"actions" is 49'],
    [
      { type: 'ordering', items: 11 },
      'ordering: problems of 11 items need 11 different symbols, and "symbols" is 10: use more of them (at most 62)',
    ],
    [
      { type: 'fixed-offset', items: 8, offset: 8 },
      'fixed-offset: "offset" is 8 and "items" 8: no token has one 8 places before it; use more items or a smaller offset',
    ],
    [{ type: 'revversal' }, 'no task is called "revversal": did you mean "reversal"?'],
  ])('%j', (config, message) => {
    expect(() => create(config)).toThrow(PosencError);
    expect(() => create(config)).toThrow(refusal(message));
  });

  test('requests that contradict themselves or ask for too much', () => {
    const task = create({ type: 'reversal' });
    const request = { length: 40, scored: 40, longest: 40, windows: 4, rowsPerBatch: 4 };
    expect(() => task.evalBatches({ ...request, scored: 50 })).toThrow(refusal('scored ≤ length ≤ longest'));
    expect(() => task.evalBatches({ ...request, windows: 0 })).toThrow(refusal('windows is 0'));
    expect(() => task.evalBatches({ ...request, windows: 1e9 })).toThrow(
      refusal('reversal: 1000000000 problems in rows of 40 tokens are too many to evaluate at once'),
    );
    const far = { ...request, length: 40e6, longest: 40e6 };
    expect(() => task.evalBatches(far)).toThrow(refusal('use fewer windows or smaller multiples'));
    expect(() => task.trainBatch(stream(1, 'x'), 0, 40)).toThrow(refusal('rows is 0'));
    expect(() => evaluate(create({ type: 'ordering' }), 3)).toThrow(refusal('problems of 15 items need 15 different'));
  });

  test('any JSON makes a task or one clear message, and a task then works or says why not', () => {
    const value = fc.oneof(fc.integer({ min: -2, max: 40 }), fc.double(), fc.boolean(), fc.string(), fc.constant(null));
    const keys = ['digits', 'items', 'bits', 'terms', 'actions', 'symbols', 'mod', 'offset', 'lengths', 'format'];
    const options = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 2 });
    fc.assert(
      fc.property(fc.constantFrom(...types), options, fc.integer({ min: 1, max: 100 }), (type, options, length) => {
        try {
          const task = create({ ...options, type });
          expect(task.trainBatch(stream(1, 'x'), 2, length).tokens.cols).toBe(length);
          evaluate(task, 1, 3, length);
          evaluate(task, 2, 3, length);
        } catch (error) {
          expect(error).toBeInstanceOf(PosencError);
          expect((error as Error).message).toContain(type);
        }
      }),
      { numRuns: 400, seed: 9 },
    );
  });
});

describe('digest: equal tasks, and only they, have the same', () => {
  test('options in any order, defaults spelled out or not', () => {
    const { digest } = create({ type: 'reversal' });
    expect(create({ lengths: 'natural', type: 'reversal', testShare: 0.1, digits: 16 }).digest).toBe(digest);
    const configs = [
      { type: 'reversal' },
      { type: 'reversal', digits: 15 },
      { type: 'reversal', lengths: 'balanced' },
      { type: 'reversal', testShare: 0.2 },
      { type: 'reversal', trainExamples: 10 },
      ...types.filter((type) => type !== 'reversal').map((type) => ({ type })),
      { type: 'addition', reversed: false },
      { type: 'fixed-offset', offset: 2 },
    ];
    expect(new Set(configs.map((config) => create(config).digest)).size).toBe(configs.length);
  });
});

describe('controls', () => {
  const row = (tokens: number[], targets: number[]) => ({
    tokens: Int32Array.from(tokens),
    targets: Int32Array.from(targets),
  });
  const batch = (...rows: ReturnType<typeof row>[]): Batch => {
    const grid = (data: number[]) => ({
      rows: rows.length,
      cols: data.length / rows.length,
      data: Int32Array.from(data),
    });
    return {
      tokens: grid(rows.flatMap((r) => [...r.tokens])),
      targets: grid(rows.flatMap((r) => [...r.targets])),
    };
  };

  test('by hand', () => {
    // Answers in training: 1 2, 1 2, 2 2, after the question token 0. Three answer symbols.
    const training = [row([0, 1], [1, 2]), row([0, 1], [1, 2]), row([0, 2], [2, 2])];
    const tested = [batch(row([0, 1], [1, 2]), row([0, 2], [2, 1]))];
    const [uniform, unigram, bigram, place] = answerControls(training, tested, 3);
    expect(uniform).toEqual({
      name: 'uniform',
      loss: expect.closeTo(Math.log(3), 12),
      accuracy: 1 / 3,
      exactMatch: 1 / 9,
    });
    // n_1 = 2, n_2 = 4 of 6: p(1) = 3/9, p(2) = 5/9; the guess is always 2.
    expect(unigram!.loss).toBeCloseTo(-(2 * Math.log(3 / 9) + 2 * Math.log(5 / 9)) / 4, 12);
    expect([unigram!.accuracy, unigram!.exactMatch]).toEqual([0.5, 0]);
    // After 0: 1 twice, 2 once; after 1: 2 twice; after 2: 2 once.
    expect(bigram!.loss).toBeCloseTo(-(Math.log(3 / 6) + Math.log(3 / 5) + Math.log(2 / 6) + Math.log(1 / 4)) / 4, 12);
    expect([bigram!.accuracy, bigram!.exactMatch]).toEqual([0.5, 0.5]);
    // First: 1 twice, 2 once; second: 2 three times. The guess is the answer 1 2.
    expect(place!.loss).toBeCloseTo(-(Math.log(3 / 6) + Math.log(4 / 6) + Math.log(2 / 6) + Math.log(1 / 6)) / 4, 12);
    expect([place!.accuracy, place!.exactMatch]).toEqual([0.5, 0.5]);
  });

  test('a place that training never had: the most frequent token, any symbol equally likely', () => {
    const training = [row([0], [1]), row([0], [1])];
    const [, , , place] = answerControls(training, [batch(row([0, 5], [1, 1]))], 4);
    expect(place!.loss).toBeCloseTo(-(Math.log(3 / 6) + Math.log(1 / 4)) / 2, 12);
    expect(place!.exactMatch).toBe(1);
  });

  test('known chances: a bit, a digit modulo 10, the first place of a digit', () => {
    const exact = (config: object, name: string) =>
      create(config)
        .controls()
        .find((control) => control.name === name)!;
    expect(exact({ type: 'parity' }, 'uniform')).toEqual({
      name: 'uniform',
      loss: expect.closeTo(Math.log(2), 12),
      accuracy: 0.5,
      exactMatch: 0.5,
    });
    expect(exact({ type: 'modular-addition' }, 'unigram').loss).toBeCloseTo(Math.log(10), 1.5);
    expect(exact({ type: 'modular-addition' }, 'uniform').exactMatch).toBeCloseTo(0.1, 12);
    // "0" is the most frequent answer, 20 % in the authors' data.
    expect(exact({ type: 'indexing' }, 'place').exactMatch).toBeCloseTo(0.2, 1);
    // Once the first digits of a sorted list are known, the next one is not far.
    const { loss } = exact({ type: 'sorting', items: 16, symbols: 10 }, 'bigram');
    expect(loss).toBeLessThan(exact({ type: 'sorting', items: 16, symbols: 10 }, 'unigram').loss - 0.5);
  });
});
