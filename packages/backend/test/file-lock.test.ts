import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Hold, holdFile } from '../src/file-lock.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posenc lock '));
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const leave = (pid: number, host = hostname()) => writeFileSync(path, JSON.stringify({ pid, host }));
const dead = 2147483646;
const release = (hold: Hold): void => {
  expect(hold).toHaveProperty('release');
  if ('release' in hold) hold.release();
};

test('held once, given back, and nothing left', () => {
  const hold = holdFile(path);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ pid: process.pid, host: hostname() });
  expect(holdFile(path)).toEqual({ holder: { pid: process.pid, host: hostname() } });
  release(hold);
  release(holdFile(path));
  expect(readdirSync(folder)).toEqual([]);
});

test('a living process keeps it, and so does one of another machine, who cannot be asked', () => {
  leave(process.ppid);
  expect(holdFile(path, 40)).toEqual({ holder: { pid: process.ppid, host: hostname() } });
  leave(dead, 'elsewhere');
  expect(holdFile(path)).toEqual({ holder: { pid: dead, host: 'elsewhere' } });
});

test('what a dead process left is taken over: its own, one of our number, a damaged one, and an unfinished takeover', () => {
  for (const corpse of [() => leave(dead), () => leave(process.pid), () => writeFileSync(path, '{"pid"')]) {
    corpse();
    release(holdFile(path));
  }
  leave(dead);
  writeFileSync(`${path}.takeover`, JSON.stringify({ pid: dead, host: hostname() }));
  release(holdFile(path));
  expect(readdirSync(folder)).toEqual([]);
});

test('processes that race for what the dead left are never inside at the same time', async () => {
  leave(dead);
  const program = fileURLToPath(new URL('./programs/race-for-lock.ts', import.meta.url));
  const race = () =>
    new Promise<{ taken: number; met: number }>((done, fail) => {
      const child = spawn(process.execPath, ['--conditions=posenc-source', program, path, '1.5']);
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      child.on('error', fail);
      child.on('close', () => done(JSON.parse(out)));
    });
  const [first, second, third] = await Promise.all([race(), race(), race()]);
  for (const { taken, met } of [first!, second!, third!]) {
    expect(taken).toBeGreaterThan(10);
    expect(met).toBe(0);
  }
});
