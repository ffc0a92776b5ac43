/** How many trials at a time; --resume where something else computes: it goes on as before, or refuses, unless --allow-drift. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import type { Comparison, Runtime } from '@posenc/training';
import { expect, it } from 'vitest';
import { posenc, suite, suiteFolder } from './trials-harness.ts';

it('a comparison taken up goes on as it was computed, and on another processor only with --allow-drift', async () => {
  const folder = suiteFolder();
  const first = await posenc(folder, 'compare', 'suite.json', '--backend', 'wasm', '--workers', '1');
  expect(first.code).toBe(0);
  const run = join(folder, 'runs', 'tiny');
  const record = join(run, 'trials', readdirSync(join(run, 'trials'))[0]!, 'trial.json');
  const { runtimes, ...rest } = JSON.parse(readFileSync(record, 'utf8')) as { runtimes: Runtime[] };
  expect(runtimes).toEqual([
    {
      backend: 'wasm',
      version: expect.any(String),
      variant: expect.any(String),
      threads: 1,
      processor: cpus()[0]!.model.trim(),
    },
  ]);
  const again = await posenc(folder, 'compare', 'suite.json', '--resume', '--json'); // not what auto is
  expect((JSON.parse(again.stdout) as Comparison).environment).toMatchObject({
    backend: expect.stringMatching(/^wasm/),
  });

  const other = await posenc(folder, 'compare', 'suite.json', '--resume', '--backend', 'cpu');
  expect(other).toMatchObject({ code: 1, stdout: '' });
  expect(other.stderr).toMatch(/ {2}backend: recorded "wasm", here "cpu"\n(?:.|\n)*--backend wasm/);

  writeFileSync(record, JSON.stringify({ ...rest, runtimes: [{ ...runtimes[0], processor: 'pebbles' }] }));
  const refused = await posenc(folder, 'compare', 'suite.json', '--resume');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    / {2}processor: recorded "pebbles", here ".+"\nGo on on such a processor, .*--allow-drift\n$/,
  );
  const lone = await posenc(folder, 'compare', 'suite.json', '--allow-drift');
  expect(lone.stderr).toBe('error: --allow-drift belongs to --resume: give both, or neither\n');

  rmSync(join(dirname(record), 'result.json'));
  const mixed = await posenc(folder, 'compare', 'suite.json', '--resume', '--allow-drift', '--json');
  expect((JSON.parse(mixed.stdout) as Comparison).environment).toMatchObject({
    runtimes: [{ processor: 'pebbles' }, runtimes[0]],
    command: 'posenc compare suite.json --resume --allow-drift',
  });
  expect(readFileSync(join(run, 'report.html'), 'utf8')).toMatch(
    /Computed by .*\(pebbles\) and .*, one after the other/,
  );
});

it('a training taken up by another kernel variant is refused likewise', async () => {
  const folder = suiteFolder();
  const { encodings: _, seeds: __, ...rest } = suite;
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...rest, name: 'run', encoding: { type: 'rope' } }));
  expect((await posenc(folder, 'train', 'run.json')).code).toBe(0);
  const record = join(folder, 'runs', 'run', 'trial.json');
  const text = readFileSync(record, 'utf8');
  writeFileSync(record, text.replace(/"variant": ?"[^"]+"/, '"variant":"scalar"'));
  const refused = await posenc(folder, 'train', 'run.json', '--resume');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/ {2}variant: recorded "scalar", here ".+"\nGo on as before, start/);
  expect((await posenc(folder, 'train', 'run.json', '--resume', '--allow-drift')).code).toBe(0);
  writeFileSync(record, text);
});

it('more trials at a time than threads may compute are not run, and that is said', async () => {
  const folder = suiteFolder({ seeds: [1, 2] });
  const { stdout, stderr } = await posenc(folder, 'compare', 'suite.json', '--dry-run', '--workers', '3');
  expect(stderr).toMatch(/^--workers 3: [12] at a time, for [12] threads may compute, and a trial has 1\n$/);
  expect(stdout).toMatch(/4 trials, 0 finished, [12] at a time/);
});
