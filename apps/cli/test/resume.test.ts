/** How many trials at a time; --resume where something else computes: it goes on as before, or refuses, unless --allow-drift. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import type { Comparison, Runtime } from '@posenc/training';
import { expect, it, onTestFinished } from 'vitest';
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

it('a comparison begun on more cores than there are goes on with as many threads where POSENC_THREADS says so', async () => {
  const folder = suiteFolder({ encodings: [{ encoding: { type: 'nope' } }] });
  expect((await posenc(folder, 'compare', 'suite.json', '--backend', 'simd')).code).toBe(0);
  const run = join(folder, 'runs', 'tiny');
  const trial = join(run, 'trials', readdirSync(join(run, 'trials'))[0]!);
  const more = availableParallelism() + 1;
  for (const file of [join(run, 'resolved.json'), join(trial, 'trial.json')])
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"threads": ?\d+/, `"threads": ${more}`));
  rmSync(join(trial, 'result.json'));
  const refused = await posenc(folder, 'compare', 'suite.json', '--resume');
  expect(refused.stderr).toContain(`threads: recorded "${more}", here "${more - 1}"\n`);
  expect(refused.stderr).toContain(`(POSENC_THREADS=${more})`);
  process.env.POSENC_THREADS = String(more);
  onTestFinished(() => {
    delete process.env.POSENC_THREADS;
  });
  const { code, stdout, stderr } = await posenc(folder, 'compare', 'suite.json', '--resume', '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect((JSON.parse(stdout) as Comparison).trials[0]!.runtimes).toMatchObject([{ threads: more }]);
});

it('a number of threads that no machine has is refused, asked for or recorded', async () => {
  const folder = suiteFolder();
  const { encodings: _, seeds: __, ...rest } = suite;
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...rest, name: 'run', encoding: { type: 'nope' } }));
  process.env.POSENC_THREADS = '5000';
  onTestFinished(() => {
    delete process.env.POSENC_THREADS;
  });
  for (const command of [
    ['train', 'run.json'],
    ['compare', 'suite.json'],
  ])
    expect((await posenc(folder, ...command)).stderr).toBe(
      'error: POSENC_THREADS must be a whole number from 1 to 256, not "5000"\n',
    );
  delete process.env.POSENC_THREADS;
  expect((await posenc(folder, 'train', 'run.json')).code).toBe(0);
  const record = join(folder, 'runs', 'run', 'trial.json');
  const text = readFileSync(record, 'utf8');
  for (const threads of ['5000', '1e99']) {
    writeFileSync(record, text.replace(/"threads": ?\d+/, `"threads": ${threads}`));
    const { code, stderr } = await posenc(folder, 'train', 'run.json', '--resume');
    expect(code).toBe(1);
    expect(stderr).toContain('trial.json" is missing or damaged');
  }
});

it('more trials at a time than threads may compute are not run, and that is said', async () => {
  const folder = suiteFolder({ seeds: [1, 2] });
  const { stdout, stderr } = await posenc(folder, 'compare', 'suite.json', '--dry-run', '--workers', '3');
  expect(stderr).toMatch(/^--workers 3: [12] at a time, for [12] threads may compute, and a trial has 1\n$/);
  expect(stdout).toMatch(/4 trials, 0 finished, [12] at a time/);
});
