/** A run taken up by another backend, variant, processor or number of threads than began it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  describeRuntime,
  inProcess,
  planRun,
  type RunOptions,
  type Runtime,
  runPlan,
  runTrial,
  trialsOf,
  workerProcesses,
} from '../src/index.ts';
import { environment, folder, suite, task } from './fixtures.ts';

beforeAll(() => useBackend('simd'));

const here = environment.runtime;
const specs = trialsOf(suite(), task(), environment).slice(0, 1);
const path = 'trial.json';

/** A trial stopped after five of its steps. */
async function begun(): Promise<string> {
  const where = folder();
  const stopper = new AbortController();
  const onProgress: RunOptions['onProgress'] = ({ done }) => done === 5 && stopper.abort();
  expect(await runTrial(specs[0]!, where, environment, { signal: stopper.signal, onProgress })).toBeUndefined();
  return where;
}

/** Makes the record say that something else computed it. */
function edit(where: string, changes: Partial<Runtime>): void {
  const record = JSON.parse(readFileSync(join(where, path), 'utf8')) as { runtimes: Runtime[] };
  expect(record.runtimes).toEqual([here]);
  writeFileSync(join(where, path), JSON.stringify({ ...record, runtimes: [{ ...here, ...changes }] }));
}

const resume = (where: string, allowDrift = false) => runTrial(specs[0]!, where, environment, { allowDrift });

describe('a trial', () => {
  it.each<[string, Partial<Runtime>, RegExp]>([
    [
      'processor',
      { processor: 'pebbles' },
      / {2}processor: recorded "pebbles", here "abacus"\nGo on on such a processor, start/,
    ],
    [
      'variant',
      { variant: 'scalar' },
      / {2}variant: recorded "scalar", here "(relaxed|plain)"\nGo on as before, start/,
    ],
    ['version', { version: '0' }, / {2}version: recorded "0", here "\d+\.\d+\.\d+/],
    [
      'number of threads',
      { threads: 3 },
      / {2}threads: recorded "3", here "1"\nGo on as before \(POSENC_THREADS=3\), start/,
    ],
    [
      'backend and number of threads',
      { backend: 'wasm', threads: 2 },
      / {2}backend: recorded "wasm", here "simd"\n {2}threads: recorded "2", here "1"\nGo on as before \(--backend wasm, POSENC_THREADS=2\)/,
    ],
  ])('begun by another %s is not taken up, unless asked to', async (_, changes, message) => {
    const where = await begun();
    edit(where, changes);
    const before = readFileSync(join(where, path));
    await expect(resume(where)).rejects.toThrow(PosencError);
    await expect(resume(where)).rejects.toThrow(message);
    await expect(resume(where)).rejects.toThrow(/start another run with --out FOLDER.*--allow-drift$/);
    expect(readFileSync(join(where, path))).toEqual(before);

    const mixed = await resume(where, true);
    expect(mixed).toMatchObject({ status: 'finished', steps: 12, runtimes: [{ ...here, ...changes }, here] });
    await expect(resume(where)).rejects.toThrow(message); // finished, but not here alone
    expect(await resume(where, true)).toEqual(mixed);
  });

  it('of which nothing was kept is begun here', async () => {
    const where = await begun();
    edit(where, { processor: 'pebbles' });
    rmSync(join(where, 'checkpoints'), { recursive: true });
    expect(await resume(where)).toMatchObject({ runtimes: [here] });
  });

  it('of an earlier posenc, which recorded no runtime, is called that, and goes on when asked to', async () => {
    const where = await begun();
    const { runtimes: _, ...earlier } = JSON.parse(readFileSync(join(where, path), 'utf8'));
    writeFileSync(join(where, path), JSON.stringify(earlier));
    await expect(resume(where)).rejects.toThrow(PosencError);
    await expect(resume(where)).rejects.toThrow(
      /is from an earlier posenc, which did not record what computed it: .*--out FOLDER, .*--allow-drift$/,
    );
    const result = await resume(where, true);
    expect(result).toMatchObject({
      status: 'finished',
      runtimes: [{ backend: 'unknown', processor: 'unknown' }, here],
    });
    expect(await resume(where, true)).toEqual(result);

    const finished = join(where, 'result.json');
    const { runtimes: __, ...earlierResult } = JSON.parse(readFileSync(finished, 'utf8'));
    writeFileSync(finished, JSON.stringify(earlierResult));
    writeFileSync(join(where, path), JSON.stringify(earlier));
    await expect(resume(where)).rejects.toThrow('is from an earlier posenc');
    expect(await resume(where, true)).toEqual({ ...result, runtimes: [result!.runtimes[0]] });
  });

  it('of an earlier posenc, which named it otherwise, is not taken up: that is said, and nothing called damaged', async () => {
    const where = await begun();
    const { runtimes: _, ...earlier } = JSON.parse(readFileSync(join(where, path), 'utf8'));
    writeFileSync(join(where, path), JSON.stringify({ ...earlier, id: '0123456789ab' }));
    await expect(resume(where, true)).rejects.toThrow(/is from an earlier posenc, .*--out FOLDER$/);
  });

  it.each([257, 5000, 1e99, -1, 1.5])('whose record says that %d threads computed it was damaged', async (threads) => {
    const where = await begun();
    edit(where, { threads });
    await expect(resume(where, true)).rejects.toThrow(/trial\.json" is missing or damaged/);
  });

  it('whose record is gone is not taken up', async () => {
    const where = await begun();
    rmSync(join(where, path));
    await expect(resume(where)).rejects.toThrow(
      /trial\.json" is missing or damaged: what computed this trial is not known/,
    );
  });
});

describe('a comparison', () => {
  const plan = (where: string) => planRun(where, specs, task(), environment);
  const one = suite({ seeds: [1], encodings: [{ encoding: { type: 'nope' } }] });
  const options = { task: task(), workers: 1 };

  it('with trials of another processor is refused before anything is touched; mixed, it says so', async () => {
    const where = folder();
    const executor = inProcess(environment);
    await runPlan(where, one, plan(where), environment, { ...options, executor });
    const [trial] = plan(where).trials;
    edit(trial!.folder, { processor: 'pebbles', backend: 'slow' });
    rmSync(join(trial!.folder, 'result.json'));
    rmSync(join(where, 'resolved.json'));
    await expect(runPlan(where, one, plan(where), environment, { ...options, executor })).rejects.toThrow(
      /processor: recorded "pebbles", here "abacus"/,
    );
    expect(() => readFileSync(join(where, 'resolved.json'))).toThrow('ENOENT');

    const workers = workerProcesses(new URL('./worker.ts', import.meta.url), []);
    const mixed = await runPlan(where, one, plan(where), environment, {
      ...options,
      executor: workers,
      allowDrift: true,
    });
    expect(mixed!.environment).toMatchObject({
      backend: `slow ${here.variant} and ${describeRuntime(here)}`,
      processor: 'pebbles and abacus',
      runtimes: [{ processor: 'pebbles' }, { processor: 'abacus' }],
    });
    expect(JSON.parse(readFileSync(join(where, 'resolved.json'), 'utf8'))).toMatchObject({ runtime: here });
  });
});
