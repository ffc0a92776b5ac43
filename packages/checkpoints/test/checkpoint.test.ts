import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type HostTensor,
  type Json,
  latestCheckpoint,
  listCheckpoints,
  loadCheckpoint,
  saveCheckpoint,
} from '../src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'posenc checkpoint '));
afterAll(() => rmSync(root, { recursive: true }));
let folder = root;
let count = 0;
beforeEach(() => {
  folder = join(root, `run ${++count}`, 'checkpoints');
});

const refusal = (message: RegExp) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringMatching(message) });

const tensors = (step: number): [string, HostTensor][] => [
  ['wte', { dtype: 'F32', shape: [2, 2], data: Float32Array.of(step, 0.1, -0, 1e-45) }],
  ['adam.m.wte', { dtype: 'F64', shape: [1], data: Float64Array.of(step / 3) }],
];
const state = (step: number) => ({ step, random: [1, -2, 3, 4], loss: 0.1 + step, seen: { '10': true, a: null } });
const save = (step: number, keep?: number) =>
  saveCheckpoint(folder, step, tensors(step), state(step), keep === undefined ? {} : { keep });
const tensorFile = (step: number) =>
  join(folder, readdirSync(folder).find((n) => n.startsWith(`step-${String(step).padStart(8, '0')}-`))!);
const jsonFile = (step: number) => join(folder, `step-${String(step).padStart(8, '0')}.json`);

function expectStep(step: number, skipped: number[] = []): readonly string[] {
  const latest = latestCheckpoint(folder)!;
  expect(latest.checkpoint.step).toBe(step);
  expect(latest.checkpoint.state).toEqual(state(step));
  expect(Object.fromEntries(latest.checkpoint.tensors)).toEqual(Object.fromEntries(tensors(step)));
  expect(latest.skipped.map((s) => Number(/^checkpoint of step (\d+) skipped: /.exec(s)![1]))).toEqual(skipped);
  return latest.skipped;
}

describe('saving and loading', () => {
  test('bits and state come back; the newest are kept, two by default', () => {
    for (const step of [0, 100, 200]) save(step);
    expect(listCheckpoints(folder)).toEqual([100, 200]);
    expect(readdirSync(folder)).toHaveLength(4);
    expectStep(200);
    expect(Object.is((loadCheckpoint(folder, 100).tensors.get('wte')!.data as Float32Array)[2], -0)).toBe(true);
    save(300, 1);
    expect(readdirSync(folder)).toHaveLength(2);
    save(123_456_789);
    expect(listCheckpoints(folder)).toEqual([300, 123_456_789]);
    expectStep(123_456_789);
  });

  test('nothing saved yet is no error, a checkpoint asked for by name is', () => {
    expect(latestCheckpoint(folder)).toBeUndefined();
    expect(listCheckpoints(folder)).toEqual([]);
    expect(() => loadCheckpoint(folder, 5)).toThrow(refusal(/^cannot read ".*step-00000005.json": no such file/));
  });

  test('the same step saved again: the same data gives the same files, other data replaces them', () => {
    save(100);
    const before = readdirSync(folder);
    save(100);
    expect(readdirSync(folder)).toEqual(before);
    saveCheckpoint(folder, 100, tensors(101), state(101));
    expect(readdirSync(folder)).toHaveLength(2);
    expect(loadCheckpoint(folder, 100).state).toEqual(state(101));
  });

  test('files of others are left alone', () => {
    save(100);
    for (const name of ['notes.txt', 'model.safetensors', 'step-1.json']) writeFileSync(join(folder, name), 'mine');
    save(200);
    save(300);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['notes.txt', 'model.safetensors', 'step-1.json']));
    expect(listCheckpoints(folder)).toEqual([200, 300]);
  });

  test.each<[string, unknown]>([
    ['NaN', { loss: Number.NaN }],
    ['-0', [-0]],
    ['undefined', { a: undefined }],
    ['nothing', undefined],
    ['a typed array', { m: Float32Array.of(1) }],
    ['a date', new Date(0)],
  ])('a state that JSON would change is refused before anything is written: %s', (_, bad) => {
    expect(() => saveCheckpoint(folder, 1, tensors(1), bad as Json)).toThrow(TypeError);
    expect(latestCheckpoint(folder)).toBeUndefined();
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 53])('step %d is refused', (step) => {
    expect(() => save(step)).toThrow(RangeError);
  });
});

describe('damage: the checkpoint before it is taken, and it is said', () => {
  const damage: [string, (step: number) => void, RegExp][] = [
    ['tensors missing', (s) => rmSync(tensorFile(s)), /cannot read ".*safetensors": no such file/],
    ['tensors cut', (s) => truncateSync(tensorFile(s), 100), /does not belong to ".*json": its SHA-256 is another/],
    ['tensors empty', (s) => truncateSync(tensorFile(s)), /does not belong to/],
    [
      'tensors of another checkpoint',
      (s) => writeFileSync(tensorFile(s), readFileSync(tensorFile(s - 100))),
      /does not belong to/,
    ],
    [
      'one bit of the tensors',
      (s) => {
        const bytes = readFileSync(tensorFile(s));
        bytes[bytes.length - 1]! ^= 1;
        writeFileSync(tensorFile(s), bytes);
      },
      /does not belong to/,
    ],
    ['JSON cut', (s) => truncateSync(jsonFile(s), 50), /step-00000300.json" is not JSON/],
    ['JSON empty', (s) => truncateSync(jsonFile(s)), /is not JSON/],
    [
      'JSON of another checkpoint',
      (s) => writeFileSync(jsonFile(s), readFileSync(jsonFile(s - 100))),
      /is the checkpoint of step 200: it was renamed/,
    ],
    [
      'JSON edited',
      (s) => writeFileSync(jsonFile(s), readFileSync(jsonFile(s), 'utf8').replace('300.1', '300.2')),
      /was changed or damaged: its SHA-256 is wrong/,
    ],
    ['JSON that is null', (s) => writeFileSync(jsonFile(s), 'null'), /was changed or damaged/],
    ['JSON that is a number', (s) => writeFileSync(jsonFile(s), '3'), /was changed or damaged/],
  ];

  test.each(damage)('%s', (_, harm, message) => {
    for (const step of [200, 300]) save(step);
    harm(300);
    expect(() => loadCheckpoint(folder, 300)).toThrow(refusal(message));
    expect(expectStep(200, [300])[0]).toMatch(message);
  });

  test('training goes on from the one before: what is saved next is kept, though damaged ones are newer', () => {
    for (const step of [100, 200, 300]) save(step, 3);
    for (const step of [200, 300]) truncateSync(jsonFile(step), 10);
    expectStep(100, [300, 200]);
    save(150);
    expectStep(150, [300, 200]);
    save(200);
    expectStep(200, [300]);
    save(300);
    expectStep(300);
    expect(listCheckpoints(folder)).toEqual([200, 300]);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  test('when none is whole the run is not started again unasked', () => {
    for (const step of [100, 200]) save(step);
    truncateSync(jsonFile(100), 10);
    rmSync(tensorFile(200));
    expect(() => latestCheckpoint(folder)).toThrow(
      refusal(/^no checkpoint in ".*checkpoints" can be loaded; delete the folder.*\n.*step 200.*\n.*step 100/),
    );
  });
});
