import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '@posenc/backend';
import { readJsonLines } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type CompareEvent,
  inProcess,
  lockFolder,
  planRun,
  runPlan,
  runTrial,
  type Suite,
  type TrialResult,
  trialId,
  trialsOf,
} from '../src/index.ts';
import { environment, folder, suite, task } from './fixtures.ts';

beforeAll(() => useBackend('simd'));

const trials = (s: Suite = suite()) => trialsOf(s, environment.tasks.create(s.task), environment);
const spec = () => trials()[1]!;
/** What must not depend on interruptions. */
const numbers = ({ timing: _, ...rest }: TrialResult) => rest;

describe('a trial', () => {
  it('gives the same numbers straight through, and stopped and taken up again at every third step', async () => {
    const straight = (await runTrial(spec(), join(folder(), 'a'), environment))!;
    expect(straight).toMatchObject({ status: 'finished', steps: 12, tokens: 12 * 48, parameters: { encoding: 0 } });
    expect(straight.evaluations.map((e) => [e.name, e.lengths.map((l) => l.length)])).toEqual([
      ['RoPE', [12, 24]],
      ['RoPE + PI', [12, 24]],
    ]);
    const [plain, interpolated] = straight.evaluations.map((e) => e.lengths.map((l) => l.score!.loss));
    expect(interpolated![0]).toBe(plain![0]); // a factor of 1 is no interpolation
    expect(interpolated![1]).not.toBe(plain![1]);

    const path = join(folder(), 'b');
    let result: TrialResult | undefined;
    let runs = 0;
    while (!result) {
      const stopper = new AbortController();
      const until = 3 * ++runs;
      result = await runTrial(spec(), path, environment, {
        signal: stopper.signal,
        onProgress: ({ done }) => done >= until && stopper.abort(),
      });
    }
    expect(runs).toBeGreaterThan(3);
    expect(numbers(result)).toEqual(numbers(straight));
    expect((readJsonLines(join(path, 'metrics.jsonl')) as { step: number }[]).map((line) => line.step)).toEqual(
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
  });

  it('is not run again when finished, and survives what a killed process leaves', async () => {
    const path = folder();
    const stopper = new AbortController();
    await runTrial(spec(), path, environment, {
      signal: stopper.signal,
      onProgress: ({ done }) => done === 5 && stopper.abort(),
    });
    // Killed later: steps 6 and 7 logged but not saved, a torn line, a lock without its process, half a checkpoint.
    appendFileSync(
      join(path, 'metrics.jsonl'),
      '{"step":6,"loss":1,"seconds":1}\n{"step":7,"loss":1,"seconds":1}\n{"step":8,"lo',
    );
    writeFileSync(
      join(path, '.lock'),
      JSON.stringify({ pid: 2 ** 22 + 1, host: (await import('node:os')).hostname() }),
    );
    writeFileSync(join(path, 'checkpoints', 'step-00000009-000000000000.safetensors'), 'half');
    const result = await runTrial(spec(), path, environment);
    expect(numbers(result!)).toEqual(numbers((await runTrial(spec(), folder(), environment))!));

    let progress = 0;
    const again = await runTrial(spec(), path, environment, { onProgress: () => progress++ });
    expect(again).toEqual(result);
    expect(progress).toBe(0);
    expect(existsSync(join(path, '.lock'))).toBe(false);
  });

  it('records divergence as a result', async () => {
    const wild = { ...spec(), training: { ...spec().training, learningRate: 1e30, warmup: 0 } };
    const result = await runTrial(wild, folder(), environment);
    expect(result).toMatchObject({ status: 'diverged', evaluations: [], shuffled: null });
    expect(result!.steps).toBeLessThan(12);
  });

  it('is named by what defines it, not by where its data lies', () => {
    const id = (changes: object, env = environment) => trialId({ ...spec(), ...changes }, task(), env);
    expect(id({})).toMatch(/^[0-9a-f]{12}$/);
    expect(id({ task: { file: '/elsewhere', type: 'babble' } })).toBe(id({}));
    expect(id({}, { ...environment, runtime: { ...environment.runtime, backend: 'wasm' } })).toBe(id({}));
    const others = [
      id({}),
      id({ seed: 9 }),
      id({ training: { ...spec().training, steps: 13 } }),
      id({}, { ...environment, versions: { test: '2' } }),
      trialId(spec(), environment.tasks.create({ type: 'babble', seed: 2 }), environment),
    ];
    expect(new Set(others).size).toBe(others.length);
  });

  it('refuses a folder in use, and a damaged result', async () => {
    const path = folder();
    const unlock = lockFolder(path);
    await expect(runTrial(spec(), path, environment)).rejects.toThrow(/in use by process \d+/);
    unlock();
    writeFileSync(join(path, 'result.json'), '{"id": ');
    await expect(runTrial(spec(), path, environment)).rejects.toThrow(/result\.json" is not JSON: it was damaged/);
  });
});

describe('compare', () => {
  const run = async (path: string, s: Suite, events: CompareEvent[] = [], signal?: AbortSignal) => {
    const plan = planRun(path, trials(s), task(), environment);
    return runPlan(path, s, plan, environment, {
      task: task(),
      executor: inProcess(environment),
      workers: 2,
      signal,
      onEvent: (e) => events.push(e),
    });
  };

  it('runs every trial once, summarises, and shows stale trials without using them', async () => {
    const path = join(folder(), 'deep', 'run');
    const events: CompareEvent[] = [];
    const comparison = (await run(path, suite(), events))!;
    expect(events.filter((e) => e.kind === 'finish')).toHaveLength(6);
    expect(JSON.parse(readFileSync(join(path, 'results.json'), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(comparison)),
    );
    expect(comparison.rows.map((row) => [row.name, row.trainedAs, row.cells.map((cell) => cell.status)])).toEqual([
      ['nope', 'nope', ['ok', 'ok']],
      ['RoPE', 'RoPE', ['ok', 'ok']],
      ['RoPE + PI', 'RoPE', ['ok', 'ok']],
      ['learned', 'learned', ['ok', 'undefined']],
    ]);
    const [baseline, rope] = comparison.rows;
    expect(baseline!.cells[0]!.difference).toBeUndefined();
    expect(rope!.cells[0]!.difference!.mean).toBeCloseTo(
      rope!.cells[0]!.loss!.mean - baseline!.cells[0]!.loss!.mean,
      12,
    );
    expect(rope!.cells[0]!.loss!.n).toBe(2);
    expect(comparison.controls.data.map((c) => c.name)).toEqual(['unigram', 'bigram']);
    expect(comparison.controls.shuffled.map((c) => c.name)).toEqual(['nope', 'RoPE', 'learned']);

    const again: CompareEvent[] = [];
    expect((await run(path, suite(), again))!.rows).toEqual(comparison.rows);
    expect(again).toEqual([]);

    const changed = suite({ seeds: [1, 3] });
    expect(planRun(path, trials(changed), task(), environment).trials.filter((t) => t.result)).toHaveLength(3);
    expect(planRun(path, trials(changed), task(), environment).stale).toHaveLength(3);
  });

  it('stopped, it leaves a run that finishes with the same numbers', async () => {
    const [stopped, straight] = [folder(), folder()];
    const stopper = new AbortController();
    const plan = planRun(stopped, trials(), task(), environment);
    const options = {
      task: task(),
      executor: inProcess(environment),
      workers: 1,
      signal: stopper.signal,
      onEvent: (e: CompareEvent) => e.kind === 'finish' && stopper.abort(),
    };
    expect(await runPlan(stopped, suite(), plan, environment, options)).toBeUndefined();
    expect(readdirSync(join(stopped, 'trials'))).toHaveLength(1);
    const [a, b] = [await run(stopped, suite()), await run(straight, suite())];
    expect(a!.trials.map(numbers)).toEqual(b!.trials.map(numbers));
    expect(a!.rows).toEqual(b!.rows);
  });

  it('names the trial that failed', async () => {
    const path = folder();
    const [first] = planRun(path, trials(), task(), environment).trials;
    mkdirSync(first!.folder, { recursive: true });
    const unlock = lockFolder(first!.folder);
    await expect(run(path, suite())).rejects.toThrow(/trial "nope" \(seed 1\): .* in use/);
    unlock();
  });
});

describe('a suite', () => {
  const refused = (changes: object, message: string | RegExp) => {
    const attempt = () => trials(suite(changes));
    expect(attempt).toThrow(PosencError);
    expect(attempt).toThrow(message);
  };
  const entry = (change: object) => ({ encodings: [{ encoding: { type: 'nope' } }, change] });

  it('changes for an entry only the training keys it names', () => {
    const changed = suite(entry({ encoding: { type: 'rope' }, training: { learningRate: 0.5 } }));
    expect(changed.encodings[1]!.training).toEqual({ learningRate: 0.5 });
    expect(trials(changed)[1]!.training).toEqual({ ...changed.training, learningRate: 0.5 });
    expect(changed.training.batchSize).toBe(4);
    refused(entry({ encoding: { type: 'rope' }, training: { learningRat: 1 } }), 'did you mean "learningRate"');
    refused(entry({ encoding: { type: 'rope' }, training: { batchSize: 0 } }), 'batchSize');
  });

  it('may say the vocabulary size that its task has', () => {
    const vocabSize = task().tokenizer.vocabulary.length;
    expect(trials(suite({ model: { ...suite().model, vocabSize } }))).toHaveLength(trials(suite()).length);
  });

  it('is refused before anything runs when it cannot run', () => {
    refused({ sead: [1] }, 'suite.json: unknown key "sead": did you mean "seeds"?');
    refused({ seeds: [1, 1] }, '"seeds" names a seed twice');
    refused({ evaluation: { multiples: [1, 2, 1] } }, '"evaluation.multiples" names a multiple twice');
    refused({ encodings: [{ encoding: 'rope' }] }, '"encodings.0.encoding" is "rope": write {"type":"rope"}');
    refused({ task: 'babble' }, '"task" is "babble": write {"type":"babble"}');
    refused({ encodings: ['rope'] }, '"encodings.0" is "rope": write {"encoding":{"type":"rope"}}');
    refused({ encodings: [{ encoding: 7 }] }, '"encodings.0.encoding" is 7: expected object');
    refused({ baseline: 'rope' }, /baseline "rope" is no entry of "encodings": did you mean "RoPE"/);
    refused({ training: { ...suite().training, step: 3 } }, 'unknown key "step" in "training": did you mean "steps"?');
    refused({ name: 'a/b' }, /"name" is "a\/b"/);
    refused(
      entry({ name: 'a\nb', encoding: { type: 'rope' } }),
      /"encodings\.1\.name" is "a\\nb": no control characters/,
    );
    refused({ name: '..' }, /"name" is "\.\.": .*a letter or digit first/);
    refused(
      { model: { modelDim: 2 ** 19, numLayers: 3, numHeads: 2 } },
      /"nope" needs at least \d+ GiB of memory .* this machine has \d+ GiB/,
    );
    refused({ training: { ...suite().training, batchSize: 1e9 } }, /needs at least \d+ GiB of memory/);
    refused(entry({ encoding: { type: 'nope' } }), 'two entries are called "nope"');
    refused(
      entry({ encoding: { type: 'rop' } }),
      /encoding of "rop": no encoding is called "rop": did you mean "rope"/,
    );
    refused(
      entry({ encoding: { type: 'learned', numPositions: 8 } }),
      '"learned": training length 12 is beyond this encoding, which ends at position 7',
    );
    refused(
      entry({ encoding: { type: 'rope' }, evaluate: [{ name: 'x', encoding: { type: 'learned', numPositions: 99 } }] }),
      /evaluate "x" of "rope": this encoding has other parameters/,
    );
    refused({ model: { modelDim: 15, numLayers: 1, numHeads: 2 } }, /modelDim 15 is not divisible by numHeads 2/);
    refused({ model: { modelDim: 16, numLayers: 1, numHeds: 2 } }, /numHeds/);
    refused(
      { model: { ...suite().model, vocabSize: 999 } },
      /^model of "nope": "vocabSize" is 999, and this task has \d+ tokens: leave it out, the task decides/,
    );
    refused(entry({ encoding: { type: 'rope' }, model: { vocabSize: '7' } }), /model of "rope": "vocabSize" is "7"/);
    refused({ task: { type: 'bable' } }, /no task is called "bable": did you mean "babble"/);
  });
});
