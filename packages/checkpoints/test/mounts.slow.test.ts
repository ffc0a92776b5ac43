/** Real full and read-only file systems: the old files stay whole, nothing is left over, one clear message. Needs root on Linux. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  appendJsonLine,
  type HostTensor,
  latestCheckpoint,
  listCheckpoints,
  readJsonLines,
  saveCheckpoint,
  writeFileAtomic,
  writeSafetensors,
} from '../src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'posenc mounts '));
const [full, readOnly] = [join(root, 'full'), join(root, 'read only')];
for (const folder of [full, readOnly]) mkdirSync(folder);

function run(command: string, ...args: string[]): string {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  return error ? error.message : status === 0 ? '' : stderr.trim();
}

writeFileSync(join(readOnly, 'old.json'), 'old');
saveCheckpoint(join(readOnly, 'checkpoints'), 1, [], null);
writeFileSync(join(readOnly, 'metrics.jsonl'), '1\n2');
const problem =
  run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', full) ||
  run('mount', '--bind', readOnly, readOnly) ||
  run('mount', '-o', 'remount,bind,ro', readOnly);
if (problem) console.log(`skipped, since file systems cannot be mounted here: ${problem}`);

beforeAll(() => {
  if (!problem) expect(statfsSync(full).bsize * statfsSync(full).blocks).toBe(1 << 20);
});
afterAll(() => {
  run('umount', full);
  run('umount', readOnly);
  rmSync(root, { recursive: true });
});

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(PosencError);
    return (error as PosencError).message;
  }
  throw new Error('nothing was thrown');
}

const weights = (step: number, bytes: number): [string, HostTensor][] => [
  ['w', { dtype: 'F32', shape: [bytes >> 2], data: new Float32Array(bytes >> 2).fill(step) }],
];

describe.skipIf(problem)('a disk of 1 MiB', () => {
  const empty = () => {
    for (const name of readdirSync(full)) rmSync(join(full, name), { recursive: true });
  };

  test('a file that does not fit leaves the old one', () => {
    empty();
    const path = join(full, 'results.json');
    writeFileAtomic(path, 'o'.repeat(500_000));
    expect(messageOf(() => writeFileAtomic(path, 'n'.repeat(600_000)))).toBe(
      `cannot write "${path}": the disk is full; free some space, or choose a path on another disk`,
    );
    expect(messageOf(() => writeSafetensors(path, weights(1, 2_000_000)))).toContain('the disk is full');
    expect(readFileSync(path, 'utf8')).toBe('o'.repeat(500_000));
    expect(readdirSync(full)).toEqual(['results.json']);
    writeFileAtomic(path, 'n'.repeat(500_000));
    expect(readFileSync(path, 'utf8')).toBe('n'.repeat(500_000));
  });

  test('a log that fills the disk stays whole, and goes on when there is room', () => {
    empty();
    const ballast = join(full, 'ballast');
    writeFileSync(ballast, new Uint8Array(900_000));
    const path = join(full, 'metrics.jsonl');
    let message = '';
    let lines = 0;
    while (!message) {
      try {
        appendJsonLine(path, { step: lines, text: 'x'.repeat(1500) });
        lines++;
      } catch (error) {
        message = (error as Error).message;
      }
    }
    expect(message).toBe(
      `cannot append to "${path}": the disk is full; free some space, or choose a path on another disk`,
    );
    expect(lines).toBeGreaterThan(50);
    expect(readFileSync(path, 'utf8').endsWith('\n')).toBe(true);
    expect(readJsonLines(path)).toHaveLength(lines);
    rmSync(ballast);
    appendJsonLine(path, { step: lines });
    expect(readJsonLines(path).map((v) => (v as { step: number }).step)).toEqual(
      Array.from({ length: lines + 1 }, (_, i) => i),
    );
  });

  test('a checkpoint that does not fit leaves the earlier ones', () => {
    empty();
    const folder = join(full, 'checkpoints');
    for (const step of [1, 2]) saveCheckpoint(folder, step, weights(step, 400_000), { step });
    const before = readdirSync(folder);
    const message = messageOf(() => saveCheckpoint(folder, 3, weights(3, 400_000), { step: 3 }));
    expect(message).toMatch(/^cannot write ".*step-00000003-.*safetensors": the disk is full; [^\n]*$/);
    expect(readdirSync(folder)).toEqual(before);
    const { checkpoint, skipped } = latestCheckpoint(folder)!;
    expect([checkpoint.step, checkpoint.state, skipped]).toEqual([2, { step: 2 }, []]);
    expect((checkpoint.tensors.get('w')!.data as Float32Array).every((x) => x === 2)).toBe(true);
    // Room for the tensors, but not for a state of this size.
    const text = 'x'.repeat(200_000);
    expect(messageOf(() => saveCheckpoint(folder, 3, weights(3, 100_000), { text }))).toMatch(
      /step-00000003.json": the disk is full/,
    );
    expect(latestCheckpoint(folder)!.checkpoint.step).toBe(2);
    saveCheckpoint(folder, 4, weights(4, 100_000), { step: 4 });
    expect(listCheckpoints(folder)).toEqual([2, 4]);
    expect(readdirSync(folder)).toHaveLength(4);
  });
});

describe.skipIf(problem)('a read-only mount', () => {
  test('nothing changes, one message each', () => {
    const advice = 'the file system is mounted read-only; choose a path on a writable disk';
    const at = (name: string) => join(readOnly, name);
    expect(messageOf(() => writeFileAtomic(at('old.json'), 'new'))).toBe(`cannot write "${at('old.json')}": ${advice}`);
    expect(messageOf(() => appendJsonLine(at('metrics.jsonl'), 3))).toBe(
      `cannot append to "${at('metrics.jsonl')}": ${advice}`,
    );
    expect(messageOf(() => saveCheckpoint(at('checkpoints'), 2, [], null))).toContain(advice);
    expect(messageOf(() => saveCheckpoint(at('more'), 2, [], null))).toBe(
      `cannot create the folder "${at('more')}": ${advice}`,
    );
    expect(readFileSync(at('old.json'), 'utf8')).toBe('old');
    expect(readJsonLines(at('metrics.jsonl'))).toEqual([1]);
    expect(latestCheckpoint(at('checkpoints'))!.checkpoint.step).toBe(1);
    expect(readdirSync(readOnly).sort()).toEqual(['checkpoints', 'metrics.jsonl', 'old.json']);
    expect(readdirSync(at('checkpoints'))).toHaveLength(2);
  });
});
