import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Comparison } from '@posenc/training';
import { describe, expect, it, onTestFinished } from 'vitest';
import { posenc, suite, suiteFolder } from './trials-harness.ts';

const sh = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: 'utf8' });

/** Mounts a small file system; undefined, or why that cannot be done. */
function mount(path: string, size: string): string | undefined {
  const { error, status, stderr } = sh('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path);
  return error ? error.message : status === 0 ? undefined : stderr.trim();
}

const probe = mkdtempSync(join(tmpdir(), 'posenc mount '));
const problem = mount(probe, '64k');
if (!problem) sh('umount', probe);
rmdirSync(probe);
const because = problem ? ` (skipped: file systems cannot be mounted here: ${problem})` : '';

const numbers = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as Comparison).trials.map(
    ({ timing: _, ...rest }) => rest,
  );

describe.skipIf(problem)(`a disk that is full or read-only${because}`, () => {
  it('stops a comparison with one message; with room again it goes on to the same numbers', async () => {
    const folder = suiteFolder();
    const small = join(folder, 'small');
    mkdirSync(small);
    expect(mount(small, '80k')).toBeUndefined();
    onTestFinished(() => void sh('umount', small));

    const full = await posenc(folder, 'compare', 'suite.json', '--out', 'small/run');
    expect(full).toMatchObject({ code: 1, stdout: '' });
    expect(full.stderr).toMatch(/error: .*disk is full/);
    expect(full.stderr).not.toContain('    at ');

    expect(sh('mount', '-o', 'remount,size=8m', small).status).toBe(0);
    expect((await posenc(folder, 'compare', 'suite.json', '--out', 'small/run', '--resume')).code).toBe(0);
    expect((await posenc(folder, 'compare', 'suite.json', '--out', 'straight')).code).toBe(0);
    expect(numbers(join(small, 'run'))).toEqual(numbers(join(folder, 'straight')));
  });

  it('says so when results find no room in the file they go to', () => {
    const folder = suiteFolder();
    const small = join(folder, 'small');
    mkdirSync(small);
    expect(mount(small, '8k')).toBeUndefined();
    onTestFinished(() => void sh('umount', small));
    writeFileSync(join(small, 'filler'), 'x'.repeat(8000));
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const command = `"${process.execPath}" --conditions=posenc-source "${main}" list > "${small}/out"`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: the output could not be written, so it is not complete: .*no space left/i);
  });

  it('refuses a read-only place before any work is done', async () => {
    const folder = suiteFolder({ training: { ...suite.training, steps: 100_000 } });
    const place = join(folder, 'place');
    mkdirSync(place);
    expect(mount(place, '1m')).toBeUndefined();
    onTestFinished(() => void sh('umount', place));
    expect(sh('mount', '-o', 'remount,ro', place).status).toBe(0);
    const refused = await posenc(folder, 'compare', 'suite.json', '--out', 'place/run');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/error: .*read-only/);
  });
});
