/** The registry, and a synthetic task as one file: what the interface must carry beyond text. */
import { below, PosencError, type Random, stream, uniform, z } from '@posenc/core';
import { describe, expect, test } from 'vitest';
import {
  type Batch,
  charTokenizer,
  countNgrams,
  createTaskRegistry,
  defineTask,
  ngramControls,
  text,
} from '../src/index.ts';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringContaining(message) });

/** `<abc>cba`: only the answer is scored. Rows are left-padded; a sequence belongs to the test if its hash says so. */
const reversal = defineTask({
  type: 'reversal',
  description: 'a string of digits, then the same backwards',
  config: z.strictObject({ digits: z.int().min(2).max(10).default(10) }),
  create({ digits }) {
    const tokenizer = charTokenizer([...'0123456789'.slice(0, digits), '<', '>']);
    const isTest = (question: string) => uniform(stream(0, question)) < 0.1;
    const draw = (random: Random, n: number, test: boolean): string => {
      const question = Array.from({ length: n }, () => below(random, digits)).join('');
      return isTest(question) === test ? question : draw(random, n, test);
    };
    const batchOf = (questions: readonly string[], cols: number): Batch => {
      const grid = (fill: number) => ({
        rows: questions.length,
        cols,
        data: new Int32Array(questions.length * cols).fill(fill),
      });
      const [tokens, targets, mask] = [grid(0), grid(-1), grid(0)];
      questions.forEach((question, b) => {
        const ids = tokenizer.encode(`<${question}>${[...question].reverse().join('')}`);
        const start = (b + 1) * cols - (ids.length - 1);
        tokens.data.set(ids.subarray(0, -1), start);
        mask.data.fill(1, start, (b + 1) * cols);
        targets.data.set(ids.subarray(-question.length), (b + 1) * cols - question.length);
      });
      return { tokens, targets, mask };
    };
    const longestIn = (length: number) => Math.floor((length - 1) / 2);
    const train = (random: Random, rows: number, length: number) =>
      batchOf(
        Array.from({ length: rows }, () => draw(random, 1 + below(random, longestIn(length)), false)),
        length,
      );
    return {
      tokenizer,
      digest: `reversal 1 ${digits}`,
      trainBatch: train,
      evalBatches: ({ length, windows }) => {
        const random = stream(0, `reversal test ${length}`);
        return [
          batchOf(
            Array.from({ length: windows }, () => draw(random, longestIn(length), true)),
            length,
          ),
        ];
      },
      controls: (batches = []) => {
        const answers = train(stream(0, 'control'), 200, 33).targets.data.filter((id) => id >= 0);
        return ngramControls(countNgrams(answers, tokenizer.vocabulary.length), batches).slice(0, 1);
      },
    };
  },
});

describe('registry', () => {
  const registry = createTaskRegistry([text, reversal]);

  test('fills in defaults, keeps types', () => {
    const config = registry.parse({ type: 'text', file: 'a.txt' });
    expect(config).toEqual({ type: 'text', file: 'a.txt', tokenizer: 'char', split: 0.9, lowercase: false });
    expect(registry.parse({ type: 'reversal' })).toEqual({ type: 'reversal', digits: 10 });
    if (config.type === 'text') expect(config.file satisfies string).toBe('a.txt');
  });

  test.each<[unknown, string]>([
    [{ type: 'txet' }, 'suite.task: no task is called "txet": did you mean "text"? (known: text, reversal)'],
    [{ type: 'addition' }, 'no task is called "addition": allowed: text, reversal'],
    [{ file: 'x' }, 'suite.task: "type" is missing: expected the name of a task'],
    ['text', 'suite.task: '],
    [undefined, 'suite.task: '],
    [{ type: 'reversal', digits: 11 }, 'suite.task (reversal): "digits" is 11'],
    [{ type: 'reversal', digit: 3 }, 'suite.task (reversal): unknown key "digit": did you mean "digits"?'],
    [{ type: 'constructor' }, 'no task is called "constructor"'],
  ])('refuses %j', (value, message) => {
    expect(() => registry.parse(value, 'suite.task')).toThrow(refusal(message));
    expect(() => registry.create(value)).toThrow(PosencError);
  });

  test('two tasks of one name', () => {
    expect(() => createTaskRegistry([text, text])).toThrow(refusal('two tasks are called "text"'));
  });

  test('JSON Schema of every config', () => {
    const schema = registry.jsonSchema() as {
      oneOf: {
        properties: Record<string, { const?: string; default?: unknown }>;
        required: string[];
        additionalProperties: boolean;
      }[];
    };
    expect(schema.oneOf.map((s) => s.properties.type!.const)).toEqual(['text', 'reversal']);
    expect(schema.oneOf[0]!.required).toEqual(['type', 'file']);
    expect(schema.oneOf[0]!.properties.split!.default).toBe(0.9);
    expect(schema.oneOf.every((s) => s.additionalProperties === false)).toBe(true);
  });
});

describe('a synthetic task behind the same interface', () => {
  const task = createTaskRegistry([reversal]).create({ type: 'reversal' });
  const show = ({ tokens, targets, mask }: Batch, b: number) =>
    Array.from({ length: tokens.cols }, (_, t) => b * tokens.cols + t)
      .map((i) => [
        mask!.data[i] ? task.tokenizer.decode([tokens.data[i]!]) : '_',
        targets.data[i]! < 0 ? '.' : task.tokenizer.decode([targets.data[i]!]),
      ])
      .reduce(([a, b], [x, y]) => [a! + x!, b! + y!], ['', '']);
  const questions = (batch: Batch) =>
    Array.from({ length: batch.tokens.rows }, (_, b) => /<(\d+)>/.exec(show(batch, b)[0]!)![1]!);

  test('padded rows of several lengths, answers scored, longer rows than in training', () => {
    const batch = task.trainBatch(stream(1, 'x'), 50, 9);
    expect(new Set(questions(batch).map((q) => q.length))).toEqual(new Set([1, 2, 3, 4]));
    for (let b = 0; b < 50; b++) expect(show(batch, b)[0]).toMatch(/^_*<(\d)*>\d*$/);
    const [longer] = task.evalBatches({ length: 17, scored: 4, longest: 33, windows: 20, rowsPerBatch: 20 });
    expect(show(longer!, 0)[1]).toMatch(/^\.{9}\d{8}$/);
    expect([...show(longer!, 0)[1]!.slice(9)].reverse().join('')).toBe(questions(longer!)[0]);
    expect(task.controls([longer!])[0]!.loss).toBeGreaterThan(1.5);
  });

  test('training and test questions are disjoint', () => {
    const trained = new Set(questions(task.trainBatch(stream(2, 'x'), 3000, 7)));
    const [tested] = task.evalBatches({ length: 7, scored: 3, longest: 7, windows: 100, rowsPerBatch: 100 });
    expect(questions(tested!).filter((q) => trained.has(q))).toEqual([]);
    expect(trained.size).toBeGreaterThan(500);
  });
});
