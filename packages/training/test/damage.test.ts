/** What a trial's folder may hold that is not its own, or not whole. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '@posenc/backend';
import { saveCheckpoint } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import { beforeAll, expect, it } from 'vitest';
import { loadTrial, planRun, runTrial, type TrialSpec, trialsOf, workerProcesses } from '../src/index.ts';
import { environment, folder, suite, task } from './fixtures.ts';

beforeAll(() => useBackend('simd'));

const specs = trialsOf(suite(), task(), environment);
const of = (name: string, seed: number) => specs.find((s) => s.name === name && s.seed === seed)!;

async function trained(spec: TrialSpec): Promise<string> {
  const path = folder();
  await runTrial(spec, path, environment);
  return path;
}

async function refused(attempt: () => unknown, message: string | RegExp) {
  const error = await Promise.resolve()
    .then(attempt)
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(PosencError);
  expect((error as Error).message).toEqual(
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
  );
}

it("another trial's checkpoint of the same shapes is refused, not taken for its own", async () => {
  const [mine, other] = [await trained(of('RoPE', 1)), await trained(of('RoPE', 2))];
  rmSync(join(mine, 'checkpoints'), { recursive: true });
  rmSync(join(mine, 'result.json'));
  cpSync(join(other, 'checkpoints'), join(mine, 'checkpoints'), { recursive: true });
  await refused(() => runTrial(of('RoPE', 1), mine, environment), /belong to another trial \([0-9a-f]{12}, not/);
  await refused(() => loadTrial(mine, environment), 'belong to another trial');
  expect(loadTrial(other, environment).step).toBe(12);

  rmSync(join(mine, 'checkpoints'), { recursive: true });
  saveCheckpoint(join(mine, 'checkpoints'), 1, [], null);
  await refused(() => runTrial(of('RoPE', 1), mine, environment), 'belong to another trial (unnamed');
});

it('a result with parts missing and metrics that are no metrics are named', async () => {
  const path = await trained(of('nope', 1));
  const result = join(path, 'result.json');
  const { id } = JSON.parse(readFileSync(result, 'utf8'));
  writeFileSync(result, JSON.stringify({ id, status: 'finished' }));
  await refused(() => runTrial(of('nope', 1), path, environment), /result\.json" lacks a part of the result/);
  rmSync(result);
  writeFileSync(join(path, 'metrics.jsonl'), 'null\n');
  await refused(
    () => runTrial(of('nope', 1), path, environment),
    /metrics\.jsonl" line 1 is not the metrics of a step/,
  );
});

it('data that changed after a run was planned is noticed before anything is trained on it', async () => {
  const path = folder();
  const [trial] = planRun(path, [of('nope', 1)], task(), environment).trials;
  const other = { ...trial!.spec, task: { ...trial!.spec.task, seed: 2 } };
  await refused(
    () => runTrial(other, trial!.folder, environment, { plannedId: trial!.id }),
    'was changed since this run began',
  );
});

it('a worker that is killed is no defect: what to do is said', async () => {
  const run = workerProcesses(new URL('./killed.ts', import.meta.url), []);
  const job = { id: 'x', spec: of('nope', 1), folder: folder() };
  await refused(() => run(job, {}), 'memory ran out: use fewer --workers');
});

it('what a worker throws arrives as it was: the name, the message alone, and where in the worker', async () => {
  const caught = (argument: string) =>
    workerProcesses(new URL('./throwing.ts', import.meta.url), [argument])(
      { id: 'x', spec: of('nope', 1), folder: folder() },
      {},
    ).catch((error: unknown) => error as Error);
  const error = (await caught('error')) as Error;
  expect([error.name, error.message]).toEqual(['TypeError', 'on purpose']);
  expect(error.stack).toContain('throwing.ts:4');
  expect(error.stack).not.toContain('executor.ts');
  expect(await caught('text')).toMatchObject({ name: 'Error', message: 'no error at all' });
});
