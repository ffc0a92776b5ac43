/** Training and evaluation at drawn positions (Ruoss 2023). */
import { useBackend } from '@posenc/backend';
import {
  createTransformer,
  dimsOf,
  type Encoding,
  type Grid,
  PosencError,
  range,
  resolveModel,
  stream,
} from '@posenc/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { evaluateAt, evaluationSchema, startSession, trainingSchema, trainStep } from '../src/index.ts';
import { placed } from '../src/placed.ts';
import { environment, suite, task } from './fixtures.ts';

beforeAll(() => useBackend('simd'));

const training = trainingSchema.parse({ ...suite().training, randomizedPositions: 100 });
const { length } = training;

/** A model that remembers the positions it was given. */
function watched() {
  const model = resolveModel({ ...suite().model, vocabSize: task().tokenizer.vocabulary.length });
  const seen: Grid[] = [];
  const encoding: Encoding = environment.encodings.create(environment.encodings.parse({ type: 'rope' }), dimsOf(model));
  const transformer = createTransformer(model, {
    ...encoding,
    hooks: (params) => (at) => {
      seen.push(at.query);
      return encoding.hooks(params)(at);
    },
  });
  return { transformer, seen };
}

const increasing = (data: Int32Array) => data.every((p, t) => t === 0 || p > data[t - 1]!);

describe('drawn positions', () => {
  it('are sorted, distinct and below the end, one draw for all rows, another at each step, the same for a seed', async () => {
    const run = async (seed: number) => {
      const { transformer, seen } = watched();
      const session = startSession(transformer, training, seed);
      for (let step = 0; step < 3; step++) await trainStep(session, task(), training, seed);
      session.dispose();
      return seen;
    };
    const seen = await run(1);
    expect(seen).toHaveLength(3);
    for (const { rows, cols, data } of seen) {
      expect([rows, cols]).toEqual([1, length]);
      expect(increasing(data)).toBe(true);
      expect(data[0]).toBeGreaterThanOrEqual(0);
      expect(data.at(-1)).toBeLessThan(100);
    }
    expect(new Set(seen.map(({ data }) => data.join())).size).toBe(3);
    expect(await run(1)).toEqual(seen);
    expect(await run(2)).not.toEqual(seen);
  });

  it('are counted unless asked for', async () => {
    const { transformer, seen } = watched();
    await trainStep(startSession(transformer, training, 1), task(), trainingSchema.parse(suite().training), 1);
    expect(seen).toEqual([range(length)]);
  });

  it('serve evaluation too: one draw for a length, batches of any size; longer sequences have no place', async () => {
    const { transformer, seen } = watched();
    const session = startSession(transformer, training, 1);
    const at = (multiple: number, options: object) =>
      evaluateAt(
        transformer,
        session.params,
        task(),
        length,
        multiple,
        evaluationSchema.parse({ multiples: [1, 2], windows: 4, ...options }),
      );
    const drawn = await at(2, { randomizedPositions: 2 * length + 5 });
    const draws = new Set(seen.map(({ data }) => data.join()));
    expect(draws.size).toBe(1);
    expect(increasing(seen[0]!.data)).toBe(true);
    const small = await at(2, { randomizedPositions: 2 * length + 5, batchTokens: 2 * length });
    expect(small!.loss).toBeCloseTo(drawn!.loss, 6);
    expect((await at(2, {}))!.loss).not.toBe(drawn!.loss);
    expect(await at(2, { randomizedPositions: 2 * length - 1 })).toBeNull();
  });

  it('fewer than there are tokens are refused', () => {
    const batch = task().trainBatch(stream(1, 'batch'), 2, 12);
    const place = () => placed(batch, { randomizedPositions: 11 }, stream(1, 'positions'));
    expect(place).toThrow(PosencError);
    expect(place).toThrow('randomizedPositions is 11, but sequences are 12 tokens long');
    expect(placed(batch, {}, stream(1, 'positions'))).toBe(batch);
  });
});
