import { useBackend } from '@posenc/backend';
import { createTransformer, dimsOf, type EncodingConfig, resolveModel } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  evaluateAt,
  evaluatePositions,
  evaluateShuffled,
  evaluationTokens,
  restoreParams,
  restoreSession,
  type Session,
  sessionTensors,
  startSession,
  trainStep,
} from '../src/index.ts';
import { environment, suite, task } from './fixtures.ts';

beforeAll(() => useBackend('simd'));

const config = suite().training;
const build = (encoding: EncodingConfig = { type: 'nope' }, changes: object = {}) => {
  const model = resolveModel({ ...suite().model, vocabSize: task().tokenizer.vocabulary.length, ...changes });
  return createTransformer(model, environment.encodings.create(encoding, dimsOf(model)));
};
const rope = environment.encodings.parse({ type: 'rope' });
const learned = environment.encodings.parse({ type: 'learned', numPositions: 12 });

async function losses(session: Session, steps: number, seed = 1, training = config): Promise<number[]> {
  const seen = [];
  for (let i = 0; i < steps; i++) seen.push((await trainStep(session, task(), training, seed)).loss);
  return seen;
}

describe('training', () => {
  it('learns, and repeats bit for bit for the same seed only', async () => {
    const longer = { ...config, steps: 40 };
    const run = (seed: number) => losses(startSession(build(rope), longer, seed), 40, seed, longer);
    const first = await run(1);
    expect(first.at(-1)).toBeLessThan(first[0]! - 0.4);
    expect(await run(1)).toEqual(first);
    expect((await run(2))[0]).not.toBe(first[0]);
  });

  it.each([
    ['without', {}],
    ['with', { dropout: 0.2 }],
  ])('goes on from a checkpoint with the same bits, %s dropout', async (_, changes) => {
    const straight = startSession(build(rope, changes), config, 1);
    const before = await losses(straight, 3);
    const saved = new Map(await sessionTensors(straight));
    const after = await losses(straight, 4);
    expect(before).toHaveLength(3);

    const resumed = startSession(build(rope, changes), config, 99);
    restoreSession(resumed, 3, saved);
    expect(await losses(resumed, 4)).toEqual(after);
    expect(Object.values(resumed.params).map((p) => Array.from(p.dataSync()))).toEqual(
      Object.values(straight.params).map((p) => Array.from(p.dataSync())),
    );
  });

  it('refuses a checkpoint of another model', async () => {
    const saved = new Map(await sessionTensors(startSession(build(), config, 1)));
    expect(() => restoreParams(build({ ...learned }), saved)).toThrow(/no tensor "params.encoding.table"/);
    expect(() => restoreParams(build({ type: 'nope' }, { modelDim: 32 }), saved)).toThrow(
      /this model needs F32 \[\d+, 32\]/,
    );
  });

  it('leaks no tensor', async () => {
    const session = startSession(build(learned), config, 1);
    await losses(session, 1);
    const before = tf.memory().numTensors;
    await losses(session, 2);
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('evaluation', () => {
  const evaluation = { multiples: [1, 2, 4], windows: 5, batchTokens: 60 };

  it('scores the same targets at every length, in batches of any size', async () => {
    const session = startSession(build(rope), config, 1);
    await losses(session, 3);
    const at = (multiple: number, batchTokens = 60) =>
      evaluateAt(session.model, session.params, task(), 12, multiple, { ...evaluation, batchTokens });
    const [one, two] = [await at(1), await at(2)];
    expect([one!.tokens, two!.tokens]).toEqual([60, 60]);
    expect(one!.loss).not.toBe(two!.loss);
    expect((await at(2, 24))!.loss).toBeCloseTo(two!.loss, 6);
    expect(one!.accuracy).toBeGreaterThan(0);
    const positions = await evaluatePositions(session.model, session.params, task(), 12, 2, evaluation);
    expect(positions).toHaveLength(24);
    expect(positions!.every((loss) => loss > 0)).toBe(true);
  });

  it('is undefined past the end of a learned table', async () => {
    const session = startSession(build(learned), config, 1);
    expect(await evaluateAt(session.model, session.params, task(), 12, 1, evaluation)).not.toBeNull();
    expect(await evaluateAt(session.model, session.params, task(), 12, 2, evaluation)).toBeNull();
    expect(await evaluatePositions(session.model, session.params, task(), 12, 2, evaluation)).toBeNull();
  });

  it.each([
    ['as many windows as asked for', rope, 5],
    ['as many windows as the text has', rope, 10_000],
    ['an encoding that ends', learned, 5],
  ])('costs what is counted beforehand: %s', async (_, encoding, windows) => {
    const { model, params } = startSession(build(encoding), config, 1);
    let read = 0;
    const watched: typeof model = {
      ...model,
      forward(weights, input, options) {
        read += input.tokens.rows * input.tokens.cols;
        return model.forward(weights, input, options);
      },
    };
    const wanted = { ...evaluation, multiples: [1, 2], windows };
    for (const multiple of wanted.multiples) await evaluateAt(watched, params, task(), 12, multiple, wanted);
    await evaluatePositions(watched, params, task(), 12, encoding === learned ? 1 : 2, wanted);
    expect(evaluationTokens(model, task(), 12, wanted)).toBe(read);
    expect(read).toBeLessThan(12 * 10_000);
  });

  it('shuffled position numbers matter to an encoding that reads them, and to no other', async () => {
    for (const [encoding, matters] of [
      [rope, true],
      [{ type: 'nope' }, false],
    ] as const) {
      const session = startSession(build(encoding, { initStd: 0.3 }), config, 1);
      const straight = await evaluateAt(session.model, session.params, task(), 12, 1, evaluation);
      const shuffled = await evaluateShuffled(session.model, session.params, task(), 12, evaluation, 1);
      expect(straight!.loss !== shuffled!.loss).toBe(matters);
    }
  });
});
