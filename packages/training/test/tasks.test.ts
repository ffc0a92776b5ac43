/** Tasks of problems under training and evaluation: every one takes a step, and exact match is that of greedy decoding. */
import { useBackend } from '@posenc/backend';
import { createTransformer, dimsOf, generate, resolveModel } from '@posenc/core';
import { builtInTasks, createTaskRegistry, type Task, textTask } from '@posenc/tasks';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  evaluateAt,
  evaluatePositions,
  evaluateShuffled,
  parseSuite,
  runTrial,
  type Session,
  startSession,
  summarize,
  type TrialResult,
  trainingSchema,
  trainStep,
  trialId,
  trialsOf,
} from '../src/index.ts';
import { environment as fixtures, folder, suiteJson } from './fixtures.ts';

beforeAll(() => useBackend('simd'));

const environment = { ...fixtures, tasks: createTaskRegistry(builtInTasks) };
const create = (config: object): Task => environment.tasks.create(config);
const small: Readonly<Record<string, object>> = {
  addition: { digits: 2 },
  reversal: { digits: 4 },
  indexing: { digits: 4 },
  ordering: { items: 3 },
  copy: { items: 4, symbols: 5 },
  parity: { bits: 8 },
  sorting: { items: 4 },
  'modular-addition': { terms: 4 },
  'fixed-offset': { items: 12, offset: 2 },
  scan: { actions: 6 },
};
const training = trainingSchema.parse({ length: 18, batchSize: 8, steps: 300, learningRate: 0.01 });
const evaluation = { multiples: [1, 2], windows: 24, batchTokens: 200 };

function start(task: Task, config: object = { type: 'rope' }, modelDim = 16): Session {
  const vocabSize = task.tokenizer.vocabulary.length;
  const model = resolveModel({ vocabSize, modelDim, numLayers: 2, numHeads: 2 });
  const encoding = environment.encodings.create(environment.encodings.parse(config), dimsOf(model));
  return startSession(createTransformer(model, encoding), training, 1);
}

describe('every task', () => {
  const types = builtInTasks.map((plugin) => plugin.type).filter((type) => type !== 'text');

  it('is here', () => expect(types).toEqual(Object.keys(small)));

  it.each(types)('%s: a step, then scores at 1 and 2 times the training length', async (type) => {
    const task = create({ type, ...small[type] });
    const session = start(task);
    const { loss, gradNorm } = await trainStep(session, task, training, 1);
    // Fresh weights predict uniformly.
    expect(Math.abs(loss - Math.log(task.tokenizer.vocabulary.length))).toBeLessThan(0.3);
    expect(gradNorm).toBeGreaterThan(0);
    for (const k of [1, 2]) {
      const score = await evaluateAt(session.model, session.params, task, 18, k, evaluation);
      expect(score!.exactMatch).toBeLessThanOrEqual(score!.accuracy);
      expect(Number.isInteger(score!.exactMatch! * 24)).toBe(true);
      expect(score!.tokens).toBeGreaterThanOrEqual(24);
      expect(Number.isFinite(score!.loss)).toBe(true);
    }
    expect(await evaluatePositions(session.model, session.params, task, 18, 2, evaluation)).toBeNull();
    const shuffled = await evaluateShuffled(session.model, session.params, task, 18, evaluation, 1);
    expect(shuffled!.exactMatch).toBeDefined();
    session.dispose();
  });
});

describe('exact match', () => {
  it('is what greedy decoding gets right', async () => {
    const task = create({ type: 'sorting', items: 3, symbols: 4, testShare: 0.3 });
    const [session, length] = [start(task, { type: 'rope' }, 32), 8];
    while (session.step < 100) await trainStep(session, task, { ...training, length, batchSize: 16 }, 1);

    let [right, rows] = [0, 0];
    for (const k of [1, 2]) {
      const score = await evaluateAt(session.model, session.params, task, length, k, evaluation);
      const request = { length: k * length, scored: length, longest: 2 * length, windows: 24, rowsPerBatch: 1 };
      const exact = task.evalBatches(request).map(({ tokens, targets }) => {
        const first = targets.data.findIndex((target) => target >= 0);
        const answer = targets.data.filter((target) => target >= 0);
        const prompt = [...tokens.data.subarray(0, first + 1)];
        return (
          generate(session.model, session.params, prompt, { maxNewTokens: answer.length }).join() === answer.join()
        );
      });
      expect(score!.exactMatch).toBe(exact.filter(Boolean).length / exact.length);
      right += exact.filter(Boolean).length;
      rows += exact.length;
    }
    // Neither nothing nor everything, or the test would say little.
    expect(right).toBeGreaterThan(3);
    expect(right).toBeLessThan(rows - 3);
    session.dispose();
  });

  it('is no score of a text', async () => {
    const task = textTask('to be or not to be, '.repeat(40));
    const session = start(task);
    const score = await evaluateAt(session.model, session.params, task, 18, 1, evaluation);
    expect(score).not.toHaveProperty('exactMatch');
    session.dispose();
  });
});

describe('a comparison', () => {
  const suite = (changes: object = {}) =>
    parseSuite(
      {
        ...suiteJson,
        task: { type: 'reversal', digits: 3 },
        seeds: [1, 2],
        encodings: suiteJson.encodings.slice(0, 2),
        ...changes,
      },
      'suite.json',
      '/',
    );

  it('has exact match in its cells and controls, and no curve by position', async () => {
    const s = suite();
    const task = create(s.task);
    const specs = trialsOf(s, task, environment);
    const results = [];
    for (const [i, spec] of specs.entries()) results.push((await runTrial(spec, `${folder()}/${i}`, environment))!);
    const comparison = summarize(s, results, task, environment, {});
    for (const row of comparison.rows) {
      expect(row.positions).toBeNull();
      for (const cell of row.cells) expect(cell).toMatchObject({ status: 'ok', exactMatch: { n: 2 } });
    }
    expect(comparison.problems).toEqual([
      { multiple: 1, count: 6, sizes: { low: 1, high: 3, unit: 'digits' } },
      { multiple: 2, count: 6, sizes: { low: 4, high: 6, unit: 'digits' } },
    ]);
    expect(comparison.controls.shuffled.map(({ exactMatch }) => exactMatch?.n)).toEqual([2, 2]);
    expect(comparison.controls.data.map((control) => control.name)).toEqual(['uniform', 'unigram', 'bigram', 'place']);
    expect(comparison.controls.data.every((control) => control.exactMatch !== undefined)).toBe(true);
    expect(JSON.parse(JSON.stringify(comparison))).toEqual(comparison);
  });

  it('pairs exact matches by seed, higher being better, and knows nothing of them for text', async () => {
    const s = suite();
    const task = create(s.task);
    const exact = { nope: [0.25, 0.5], RoPE: [0.5, 0.75] };
    const trials = trialsOf(s, task, environment).map((spec): TrialResult => {
      const score = {
        loss: 1,
        accuracy: 0.9,
        tokens: 20,
        exactMatch: exact[spec.name as 'nope' | 'RoPE'][spec.seed - 1]!,
      };
      const lengths = (override: object | null) => ({
        name: override ? 'RoPE + PI' : spec.name,
        override,
        lengths: [1, 2].map((multiple) => ({ multiple, length: 12 * multiple, score: multiple === 1 ? score : null })),
        positions: null,
      });
      return {
        id: `${spec.name} ${spec.seed}`,
        name: spec.name,
        seed: spec.seed,
        encoding: spec.encoding,
        status: 'finished',
        runtimes: [environment.runtime],
        steps: 1,
        tokens: 1,
        parameters: { total: 1, encoding: 0 },
        evaluations: [lengths(null), ...spec.overrides.map(({ encoding }) => lengths(encoding))],
        shuffled: null,
        timing: { trainSeconds: 1, medianStepSeconds: 1, tokensPerSecond: 1 },
      };
    });
    const { rows } = summarize(s, trials, task, environment, {});
    const [nope, rope, pi] = rows.map((row) => row.cells);
    expect(nope![0]).toMatchObject({ exactMatch: { mean: 0.375 } });
    expect(nope![0]).not.toHaveProperty('exactMatchDifference');
    for (const cells of [rope, pi])
      expect(cells![0]!.exactMatchDifference).toEqual({ mean: 0.25, sd: 0, n: 2, margin: 0, verdict: 'higher' });
    expect(rope![1]).toEqual({ multiple: 2, length: 24, status: 'undefined' });

    const text = summarize(s, trials, textTask('to be or not to be, '.repeat(40)), environment, {});
    expect(text).not.toHaveProperty('problems');
  });

  it('is refused before anything runs when its rows are too short for the problems', () => {
    const s = suite({ task: { type: 'reversal', digits: 4 } });
    expect(() => trialsOf(s, create(s.task), environment)).toThrow(
      'reversal: problems of 4 digits take up to 14 tokens, and rows have 12: the smallest training "length" that fits is 14',
    );
  });

  it('gives trials of other options other names', () => {
    const ids = [{}, { digits: 2 }, { lengths: 'balanced' }].map((options) => {
      const s = suite({ task: { type: 'reversal', digits: 3, ...options } });
      const task = create(s.task);
      return trialId(trialsOf(s, task, environment)[0]!, task, environment);
    });
    expect(new Set(ids).size).toBe(3);
  });
});
