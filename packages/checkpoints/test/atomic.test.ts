import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  appendJsonLine,
  ensureFolder,
  fileError,
  readJsonLines,
  removeStaleTemporaries,
  writeFileAtomic,
  writeJsonAtomic,
} from '../src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'posenc atomic '));
afterAll(() => rmSync(root, { recursive: true }));
let folder = root;
let count = 0;
beforeEach(() => {
  folder = join(root, `case ${++count}`);
  mkdirSync(folder);
});

const refusal = (message: RegExp) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringMatching(message) });

describe('writeFileAtomic', () => {
  test('creates and replaces text, bytes and runs of bytes, and leaves nothing else', () => {
    const path = join(folder, 'file');
    writeFileAtomic(path, 'old ✓');
    expect(readFileSync(path, 'utf8')).toBe('old ✓');
    writeFileAtomic(path, Uint8Array.of(1, 2, 3));
    expect([...readFileSync(path)]).toEqual([1, 2, 3]);
    writeFileAtomic(path, [Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(0, 2).subarray(1)]);
    expect([...readFileSync(path)]).toEqual([1, 2]);
    writeFileAtomic(path, '');
    expect(statSync(path).size).toBe(0);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('never changes the old file in place: another name of it keeps the old bytes', () => {
    writeFileAtomic(join(folder, 'file'), 'old');
    linkSync(join(folder, 'file'), join(folder, 'other name'));
    writeFileAtomic(join(folder, 'file'), 'new');
    expect(readFileSync(join(folder, 'other name'), 'utf8')).toBe('old');
  });

  test('when the source of the bytes fails half-way, the old file stays and no temporary file does', () => {
    writeFileAtomic(join(folder, 'file'), 'old');
    function* broken() {
      yield new Uint8Array(1000);
      throw new RangeError('ours');
    }
    expect(() => writeFileAtomic(join(folder, 'file'), broken())).toThrow(RangeError);
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('one message for a missing folder, a folder in the way, a file as a folder, a null byte, a long name', () => {
    mkdirSync(join(folder, 'dir'));
    writeFileSync(join(folder, 'file'), '');
    expect(() => writeFileAtomic(join(folder, 'none', 'x'), '')).toThrow(
      refusal(/^cannot write ".*x": no such file or folder; check/),
    );
    expect(() => writeFileAtomic(join(folder, 'dir'), '')).toThrow(refusal(/^cannot write ".*dir": .*folder/));
    expect(() => writeFileAtomic(join(folder, 'file', 'x'), '')).toThrow(refusal(/a part of the path is a file/));
    expect(() => writeFileAtomic(join(folder, 'a\0b'), '')).toThrow(refusal(/null byte/));
    expect(() => writeFileAtomic(join(folder, 'x'.repeat(300)), '')).toThrow(refusal(/the name is too long/));
    expect(readdirSync(folder).sort()).toEqual(['dir', 'file']);
  });

  test('writeJsonAtomic is readable, and refuses what is no JSON', () => {
    writeJsonAtomic(join(folder, 'a.json'), { a: [1, null], b: Number.NaN });
    expect(readFileSync(join(folder, 'a.json'), 'utf8')).toBe('{\n  "a": [\n    1,\n    null\n  ],\n  "b": null\n}\n');
    expect(() => writeJsonAtomic(join(folder, 'b.json'), undefined)).toThrow(TypeError);
    expect(readdirSync(folder)).toEqual(['a.json']);
  });
});

test('removeStaleTemporaries removes those of dead processes here, and nothing else', () => {
  let own = '';
  function* peek() {
    own = readdirSync(folder).find((name) => name.endsWith('.tmp'))!;
    yield new Uint8Array(1);
  }
  writeFileAtomic(join(folder, 'x'), peek());
  const dead = own.replace(`-${process.pid}-`, '-4194305-'); // above the largest pid of Linux
  const elsewhere = dead.replace(/\.[0-9a-z]+-/, '.otherhost-');
  for (const name of [own, dead, elsewhere, '.x.tmp', dead.replace('.x.', '.y.')])
    writeFileSync(join(folder, name), '');
  removeStaleTemporaries(folder, (target) => target === 'x');
  expect(readdirSync(folder).sort()).toEqual([own, elsewhere, '.x.tmp', dead.replace('.x.', '.y.'), 'x'].sort());
  expect(() => removeStaleTemporaries(join(folder, 'none'))).toThrow(refusal(/cannot read/));
});

describe('JSON lines', () => {
  test('what is appended is read', () => {
    const path = join(folder, 'metrics.jsonl');
    const values = [{ step: 1, loss: 2.5 }, { note: 'line\nbreak ✓' }, [1], null, 3];
    for (const value of values) appendJsonLine(path, value);
    expect(readJsonLines(path)).toEqual(values);
    appendJsonLine(path, { loss: Number.NaN });
    expect(readJsonLines(path).at(-1)).toEqual({ loss: null });
    expect(() => appendJsonLine(path, undefined)).toThrow(TypeError);
  });

  const line = '{"step":2,"note":"✓"}\n';
  test('a last line torn after any number of bytes is passed over, then replaced', () => {
    const path = join(folder, 'metrics.jsonl');
    for (let cut = 0; cut < Buffer.byteLength(line); cut++) {
      writeFileSync(path, Buffer.concat([Buffer.from('{"step":1}\n'), Buffer.from(line).subarray(0, cut)]));
      expect(readJsonLines(path)).toEqual([{ step: 1 }]);
      appendJsonLine(path, { step: 3 });
      expect(readFileSync(path, 'utf8')).toBe('{"step":1}\n{"step":3}\n');
    }
  });

  test('a torn line longer than the search step, a torn first line, and the zeros of a power cut', () => {
    const path = join(folder, 'metrics.jsonl');
    writeFileSync(path, `1\n"${'x'.repeat(10_000)}`);
    appendJsonLine(path, 2);
    expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
    writeFileSync(path, `"${'x'.repeat(10_000)}`);
    expect(readJsonLines(path)).toEqual([]);
    appendJsonLine(path, 2);
    expect(readJsonLines(path)).toEqual([2]);
    writeFileSync(path, Buffer.concat([Buffer.from('1\n'), Buffer.alloc(5000)]));
    expect(readJsonLines(path)).toEqual([1]);
  });

  test('one message for a broken line inside, a missing file, a folder', () => {
    const path = join(folder, 'metrics.jsonl');
    writeFileSync(path, '1\n{"a":\n2\n');
    expect(() => readJsonLines(path)).toThrow(
      refusal(/^".*metrics.jsonl" line 2 is not JSON: "{\\"a\\":"; remove that line$/),
    );
    expect(() => readJsonLines(join(folder, 'none'))).toThrow(refusal(/^cannot read ".*none": no such file/));
    expect(() => appendJsonLine(folder, 1)).toThrow(refusal(/^cannot append to ".*": it is a folder/));
  });
});

describe('fileError', () => {
  test.each([
    ['ENOSPC', 'the disk is full; free some space'],
    ['EROFS', 'the file system is mounted read-only; choose a path on a writable disk'],
    ['EACCES', 'permission denied; change its owner or permissions'],
    ['EISDIR', 'it is a folder, and a file was expected'],
    ['ENOENT', 'no such file or folder; check the path'],
    ['EDQUOT', 'your disk quota is used up'],
  ])('%s', (code, message) => {
    const cause = Object.assign(new Error(`${code}: x`), { code, syscall: 'write' });
    const error = fileError(cause, 'save the run in', '/runs/a') as PosencError;
    expect(error).toBeInstanceOf(PosencError);
    expect(error.message.startsWith(`cannot save the run in "/runs/a": ${message}`)).toBe(true);
    expect(error.cause).toBe(cause);
  });

  test('a code that is not in the table keeps the words of the system; errors that are not of files pass', () => {
    const rare = Object.assign(new Error('EOVERFLOW: value too large'), { code: 'EOVERFLOW', syscall: 'stat' });
    expect((fileError(rare, 'read', 'x') as Error).message).toBe('cannot read "x": EOVERFLOW: value too large');
    const defect = new TypeError('x is not a function');
    expect(fileError(defect, 'read', 'x')).toBe(defect);
    const told = new PosencError('told already');
    expect(fileError(told, 'read', 'x')).toBe(told);
  });
});

test('ensureFolder makes what is missing and accepts what is there; a file in the way is told', () => {
  const deep = join(folder, 'a', 'b', 'c');
  ensureFolder(deep);
  ensureFolder(deep);
  expect(statSync(deep).isDirectory()).toBe(true);
  writeFileSync(join(folder, 'file'), '');
  expect(() => ensureFolder(join(folder, 'file'))).toThrow(
    refusal(/^cannot create the folder ".*file": something of that name/),
  );
  expect(() => ensureFolder(join(folder, 'file', 'x'))).toThrow(refusal(/^cannot create the folder ".*": /));
});
