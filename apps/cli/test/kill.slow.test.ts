import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { below, stream } from '@posenc/core';
import type { Comparison } from '@posenc/training';
import { describe, expect, it } from 'vitest';
import { posenc, posencProcess, suite, suiteFolder } from './trials-harness.ts';

const longer = { seeds: [1, 2], training: { ...suite.training, steps: 400 } };
const trials = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, 'runs', 'tiny', 'results.json'), 'utf8')) as Comparison).trials.map(
    ({ timing: _, ...rest }) => rest,
  );

/** Starts (or takes up) the run, signals it after a while, and waits for its end. */
async function interrupt(folder: string, after: number, signal: 'SIGKILL' | 'SIGINT'): Promise<number | null> {
  const child = posencProcess(folder, 'compare', 'suite.json', '--resume');
  const ended = new Promise<number | null>((done) => child.on('close', done));
  await Promise.race([sleep(after), ended]);
  if (child.exitCode === null) process.kill(-child.pid!, signal);
  return ended;
}

describe('an interrupted comparison', () => {
  it('killed at 20 random moments, workers and all, it ends with the same bits', async () => {
    const [killed, straight] = [suiteFolder(longer), suiteFolder(longer)];
    const random = stream(1, 'kills');
    for (let i = 0; i < 20; i++) await interrupt(killed, 300 + below(random, 2700), 'SIGKILL');
    expect(await posenc(killed, 'compare', 'suite.json', '--resume')).toEqual(
      expect.objectContaining({ code: 0, stderr: expect.not.stringContaining('error') }),
    );
    expect(await posenc(straight, 'compare', 'suite.json')).toEqual(
      expect.objectContaining({ code: 0, stderr: expect.not.stringContaining('error') }),
    );
    expect(trials(killed)).toEqual(trials(straight));
  });

  it('stopped by Ctrl-C it says how to go on, exits with 130, and goes on', async () => {
    const folder = suiteFolder({ ...longer, training: { ...longer.training, steps: 3000 } });
    expect(await interrupt(folder, 4000, 'SIGINT')).toBe(130);
    const trial = posencProcess(folder, 'compare', 'suite.json', '--dry-run', '--json');
    let out = '';
    trial.stdout.on('data', (chunk) => {
      out += chunk;
    });
    await new Promise((done) => trial.on('close', done));
    expect((JSON.parse(out) as { trials: unknown[] }).trials).toHaveLength(4);
  });
});
