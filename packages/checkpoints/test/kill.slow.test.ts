/** kill -9 in the middle of a save: at every file system call of one, and at random moments of many. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { below, stream } from '@posenc/core';
import { afterAll, expect, test } from 'vitest';
import { type Latest, latestCheckpoint, saveCheckpoint } from '../src/index.ts';
import { stateAt, tensorsAt } from './programs/state.ts';

const root = mkdtempSync(join(tmpdir(), 'posenc kill '));
afterAll(() => rmSync(root, { recursive: true }));
const program = (name: string) => ['--conditions=posenc-source', join(import.meta.dirname, 'programs', name)];

function expectWhole({ checkpoint, skipped }: Latest): number {
  const { step, tensors, state } = checkpoint;
  expect(skipped).toEqual([]);
  expect(state).toEqual(stateAt(step));
  expect(Object.fromEntries(tensors)).toEqual(Object.fromEntries(tensorsAt(step)));
  return step;
}

test('at every file system call of a save', () => {
  const [before, after] = [join(root, 'before'), join(root, 'after')];
  for (const step of [1, 2]) saveCheckpoint(before, step, tensorsAt(step), stateAt(step));
  const found: number[] = [];
  for (let call = 1, killed = true; killed; call++) {
    rmSync(after, { recursive: true, force: true });
    cpSync(before, after, { recursive: true });
    const args = [...program('save-once.ts'), after, '3', String(call)];
    const child = spawnSync(process.execPath, args, { encoding: 'utf8' });
    found.push(expectWhole(latestCheckpoint(after)!));
    killed = child.signal === 'SIGKILL';
    if (!killed) {
      expect([child.stderr, child.stdout.split(' ').length]).toEqual(['', call - 1]);
      // Both files: the bytes are flushed before they get the name, the folder after it.
      const durable = /openSync (writeSync )+fsyncSync closeSync renameSync openSync fsyncSync closeSync/g;
      expect(child.stdout.match(durable)).toHaveLength(2);
    }
    saveCheckpoint(after, 4, tensorsAt(4), stateAt(4));
    expect(expectWhole(latestCheckpoint(after)!)).toBe(4);
    expect(readdirSync(after)).toHaveLength(4);
  }
  // Up to one moment the old checkpoint is the latest, from then on the new one.
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(found.filter((step) => step === 2).length).toBeGreaterThan(10);
  expect(found.filter((step) => step === 3).length).toBeGreaterThan(5);
});

test('at 40 random moments of a run that saves all the time', async () => {
  const random = stream(1, 'kill moments');
  const folder = join(root, 'run');
  let last = 0;
  for (let round = 0; round < 40; round++) {
    const child = spawn(process.execPath, [...program('save-forever.ts'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    const closed = new Promise((resolve) => child.once('close', resolve));
    await new Promise<void>((resolve) =>
      child.stdout.on('data', (text) => {
        told += text;
        resolve();
      }),
    );
    await setTimeout(below(random, 60));
    child.kill('SIGKILL');
    await closed;
    const saved = Number(told.trimEnd().split('\n').at(-1));
    const found = expectWhole(latestCheckpoint(folder)!);
    expect(found).toBeGreaterThanOrEqual(saved);
    expect(saved).toBeGreaterThan(last);
    last = found;
  }
  saveCheckpoint(folder, last + 1, tensorsAt(last + 1), stateAt(last + 1));
  expect(readdirSync(folder)).toHaveLength(4);
});
