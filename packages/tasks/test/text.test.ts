import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stream } from '@posenc/core';
import { afterAll, describe, expect, test } from 'vitest';
import { type Batch, countNgrams, createTaskRegistry, ngramControls, text, textTask } from '../src/index.ts';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringContaining(message) });
const folder = mkdtempSync(join(tmpdir(), 'posenc text '));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return name;
};
const context = { resolve: (path: string) => join(folder, path) };
const create = (config: object) => createTaskRegistry([text]).create({ type: 'text', ...config }, context);
const idsOf = (batches: readonly Batch[]) =>
  batches.flatMap((b) => [...b.tokens.data, ...b.targets.data]).filter((id) => id >= 0);

describe('data', () => {
  test('training and evaluation never share a token: 900 a, then 100 b', () => {
    const task = textTask('a'.repeat(900) + 'b'.repeat(100));
    for (const length of [1, 50, 899])
      expect(new Set(idsOf([task.trainBatch(stream(1, 'x'), 300, length)]))).toEqual(new Set([0]));
    for (const [length, scored] of [
      [99, 99],
      [99, 3],
      [1, 1],
    ] as const)
      expect(new Set(idsOf(task.evalBatches({ length, scored, longest: 99, windows: 99, rowsPerBatch: 9 })))).toEqual(
        new Set([1]),
      );
    expect(() => task.trainBatch(stream(1, 'x'), 1, 900)).toThrow(
      refusal('the training part of the text has 900 tokens'),
    );
    expect(() => task.evalBatches({ length: 100, scored: 1, longest: 100, windows: 1, rowsPerBatch: 1 })).toThrow(
      refusal('the evaluation part of the text has 100 tokens'),
    );
  });

  test('rows are passages of the text', () => {
    const source = readFileSync(import.meta.filename, 'utf8');
    for (const tokenizer of ['char', 'byte'] as const) {
      const task = create({ file: file('source', source), tokenizer });
      const { tokens, targets } = task.trainBatch(stream(3, 'x'), 4, 40);
      for (let b = 0; b < 4; b++) {
        const row = task.tokenizer.decode([...tokens.data.subarray(b * 40, b * 40 + 40), targets.data[b * 40 + 39]!]);
        expect(source).toContain(row);
      }
      const [batch] = task.evalBatches({ length: 40, scored: 10, longest: 80, windows: 3, rowsPerBatch: 3 });
      expect(source).toContain(task.tokenizer.decode(batch!.tokens.data.subarray(0, 40)));
      expect(source).toContain(task.tokenizer.decode(batch!.targets.data.subarray(30, 40)));
    }
  });

  test('lower case, bytes, a byte order mark', () => {
    expect(create({ file: file('a', 'ABab'.repeat(10)), lowercase: true }).tokenizer.vocabulary).toEqual(['a', 'b']);
    expect(create({ file: file('a', '\uFEFFÄäß'.repeat(10)), lowercase: true }).tokenizer.vocabulary).not.toContain(
      'Ä',
    );
    expect(create({ file: file('a', '\uFEFFab'.repeat(1) + 'ab'.repeat(20)) }).tokenizer.vocabulary).toEqual([
      'a',
      'b',
    ]);
    const raw = create({
      file: file(
        'a',
        Uint8Array.from({ length: 256 }, (_, i) => i),
      ),
      tokenizer: 'byte',
      split: 0.5,
    });
    expect([...raw.trainBatch(stream(1, 'x'), 1, 127).tokens.data]).toEqual(Array.from({ length: 127 }, (_, i) => i));
  });
});

describe('digest: equal tasks, and only they, have the same', () => {
  test('it follows the content and every option, not the path', () => {
    const content = 'To be, or not to be'.repeat(9);
    const base = create({ file: file('one', content) }).digest;
    expect(base).toMatch(/^[0-9a-f]{64}$/);
    expect(create({ file: file('two', content), split: 0.9, tokenizer: 'char' }).digest).toBe(base);
    expect(textTask(content).digest).toBe(base);
    const others = [
      create({ file: file('three', `${content}.`) }),
      create({ file: 'one', split: 0.8 }),
      create({ file: 'one', tokenizer: 'byte' }),
      create({ file: 'one', lowercase: true }),
    ].map((task) => task.digest);
    expect(new Set([base, ...others]).size).toBe(5);
  });
});

describe('controls', () => {
  test('by hand', () => {
    // Training 0 1 0 1 0 2: n_01 = 2, n_10 = 2, n_02 = 1; next: 0 twice, 1 twice, 2 once.
    const grid = (...data: number[]) => ({ rows: 1, cols: data.length, data: Int32Array.from(data) });
    const batch = { tokens: grid(0, 0, 2, 1), targets: grid(1, 2, 1, -1) };
    const [unigram, bigram] = ngramControls(countNgrams(Int32Array.of(0, 1, 0, 1, 0, 2), 3), [batch, batch]);
    expect(unigram!.loss).toBeCloseTo(-(Math.log(3 / 8) + Math.log(2 / 8) + Math.log(3 / 8)) / 3, 12);
    expect(bigram!.loss).toBeCloseTo(-(Math.log(3 / 6) + Math.log(2 / 6) + Math.log(1 / 3)) / 3, 12);
    expect([unigram!.name, bigram!.name]).toEqual(['unigram', 'bigram']);
    // 0 and 1 are equally frequent: the lower id is the unigram's guess. After 0 the bigram guesses 1, after 2 (unseen) 0.
    expect(unigram!.accuracy).toBe(0);
    expect(bigram!.accuracy).toBeCloseTo(1 / 3, 12);
  });

  test('of equally frequent followers the lower id is the guess, whichever was seen first', () => {
    const grid = (...data: number[]) => ({ rows: 1, cols: data.length, data: Int32Array.from(data) });
    for (const ids of [Int32Array.of(0, 2, 0, 1), Int32Array.of(0, 1, 0, 2)])
      expect(ngramControls(countNgrams(ids, 3), [{ tokens: grid(0), targets: grid(1) }])[1]!.accuracy).toBe(1);
  });

  test('tiny Shakespeare: the known 3.35 and 2.48 nats', () => {
    const task = textTask(readFileSync(join(import.meta.dirname, '../../../apps/cli/data/tiny-shakespeare.txt')));
    expect(task.tokenizer.vocabulary).toHaveLength(65);
    const [unigram, bigram] = task.controls();
    expect(unigram!.loss.toFixed(2)).toBe('3.35');
    expect(bigram!.loss.toFixed(2)).toBe('2.48');
    const request = { length: 128, scored: 128, longest: 1024, windows: 500, rowsPerBatch: 50 };
    const [, onTargets] = task.controls(task.evalBatches(request));
    expect(Math.abs(onTargets!.loss - bigram!.loss)).toBeLessThan(0.02);
    // The same targets with longer context: the same control.
    expect(task.controls(task.evalBatches({ ...request, length: 1024 }))[1]).toEqual(onTargets);
  });
});

describe('mistakes', () => {
  test.each<[string, object, string]>([
    [
      'a missing file',
      { file: 'none.txt' },
      `cannot read the text "${join(folder, 'none.txt')}": no such file; check "file" of the task`,
    ],
    ['a folder', { file: '.' }, 'it is a folder; name a text file'],
    ['no file', {}, 'task (text): "file" is missing'],
    ['an empty file', { file: file('empty', '') }, '"empty" has 0 tokens'],
    [
      'three characters',
      { file: file('abc', 'abc') },
      '"abc" has 3 tokens, which a split at 0.9 divides into 2 and 1: both parts need at least 2',
    ],
    ['a misspelt key', { file: 'abc', tokeniser: 'byte' }, 'unknown key "tokeniser": did you mean "tokenizer"?'],
    ['an unknown tokenizer', { file: 'abc', tokenizer: 'bpe' }, '"tokenizer" is "bpe"'],
    ['a split of 1', { file: 'abc', split: 1 }, '"split" is 1'],
    ['a split of 0', { file: 'abc', split: 0 }, '"split" is 0'],
    ['a number as file', { file: 3 }, '"file" is 3'],
    [
      'bytes that are not UTF-8',
      { file: file('latin1', Buffer.concat([Buffer.from('naïve \uFFFD'), Buffer.from('café', 'latin1')])) },
      '"latin1" is not UTF-8 text: byte 0xe9 at offset 13',
    ],
    [
      'a cut character',
      { file: file('cut', Buffer.from('aaaaaaaa€').subarray(0, 10)) },
      '"cut" is not UTF-8 text: byte 0xe2 at offset 8',
    ],
    [
      'UTF-16',
      { file: file('utf16', Buffer.from('\uFEFFabc'.repeat(9), 'utf16le')) },
      'byte 0xff at offset 0 belongs to no character; convert the file, or use "tokenizer": "byte"',
    ],
  ])('%s', (_, config, message) => {
    expect(() => create(config)).toThrow(refusal(message));
  });
});

test('a text that never ends, or that has nothing to predict, is refused', () => {
  expect(() => text.create(text.config.parse({ file: '/dev/zero' }), { resolve: (path) => path })).toThrow(
    /no regular file/,
  );
  expect(() => textTask('a'.repeat(500))).toThrow(/one character repeated: there is nothing to predict/);
});
