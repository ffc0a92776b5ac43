/** What only a real process shows: start, streams, signals. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import { wantsColor } from '../src/io.ts';
import { folder, program, removeFolders } from './cli.ts';

afterAll(removeFolders);

const cwd = folder({ 'package.json': '{"name":"somebody"}' });

const run = (argv: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [...program, ...argv], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  });

describe('the process', () => {
  it('prints the result on standard output and nothing else anywhere: no banner, no warning', () => {
    const { status, stdout, stderr } = run(['inspect', 'learned', '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout).config.type).toBe('learned');
  });

  it('ends with the exit code of the failure', () => {
    const { status, stdout, stderr } = run(['inspect', 'none.json']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe('error: cannot read "none.json": no such file or folder; check the path\n');
  });

  it('writes no colour into a pipe; NO_COLOR wins over FORCE_COLOR, and that over the terminal', () => {
    expect(run(['list']).stdout).not.toContain(String.fromCharCode(27));
    expect(wantsColor({}, false)).toBe(false);
    expect(wantsColor({}, true)).toBe(true);
    expect(wantsColor({ TERM: 'dumb' }, true)).toBe(false);
    expect(wantsColor({ NO_COLOR: '1' }, true)).toBe(false);
    expect(wantsColor({ FORCE_COLOR: '1' }, false)).toBe(true);
    expect(wantsColor({ FORCE_COLOR: '0' }, true)).toBe(false);
    expect(wantsColor({ FORCE_COLOR: '1', NO_COLOR: '1' }, true)).toBe(false);
  });

  it('ends quietly when its reader has seen enough', async () => {
    const child = spawn(process.execPath, [...program, 'schema', '--json'], { cwd });
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
  });

  it('stops at Ctrl-C', async () => {
    const child = spawn(process.execPath, [...program, 'inspect', '-'], { cwd });
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    await new Promise((resolve) => setTimeout(resolve, 1000)); // it now waits for standard input
    child.kill('SIGINT');
    const [code, signal] = await once(child, 'close');
    // A shell shows both as 130.
    expect(code === 130 || signal === 'SIGINT').toBe(true);
    expect(errors).toBe('');
  });
});
