import { fromState, stateOf, stream } from '@posenc/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Batch, drawWindows, type EvalRequest, evaluationWindows } from '../src/index.ts';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringContaining(message) });
/** Every token is its own place. */
const places = (n: number) => Int32Array.from({ length: n }, (_, i) => i);
const rowsOf = ({ tokens, targets }: Batch) =>
  Array.from({ length: tokens.rows }, (_, b) => ({
    tokens: [...tokens.data.subarray(b * tokens.cols, (b + 1) * tokens.cols)],
    targets: [...targets.data.subarray(b * targets.cols, (b + 1) * targets.cols)],
  }));

describe('evaluation windows', () => {
  const evaluate = (n: number, request: Partial<EvalRequest>) =>
    evaluationWindows(
      places(n),
      { length: 4, scored: 4, longest: 4, windows: 4, rowsPerBatch: 10, ...request },
      'x',
    ).flatMap(rowsOf);

  test('by hand: 20 tokens, length 2 and 6 of at most 6, two scored', () => {
    expect(evaluate(20, { length: 2, scored: 2, longest: 6, windows: 3 })).toEqual([
      { tokens: [4, 5], targets: [5, 6] },
      { tokens: [9, 10], targets: [10, 11] },
      { tokens: [14, 15], targets: [15, 16] },
    ]);
    expect(evaluate(20, { length: 6, scored: 2, longest: 6, windows: 3 })).toEqual([
      { tokens: [0, 1, 2, 3, 4, 5], targets: [-1, -1, -1, -1, 5, 6] },
      { tokens: [5, 6, 7, 8, 9, 10], targets: [-1, -1, -1, -1, 10, 11] },
      { tokens: [10, 11, 12, 13, 14, 15], targets: [-1, -1, -1, -1, 15, 16] },
    ]);
  });

  test('every place of non-overlapping windows', () => {
    expect(evaluate(9, {})).toEqual([
      { tokens: [0, 1, 2, 3], targets: [1, 2, 3, 4] },
      { tokens: [4, 5, 6, 7], targets: [5, 6, 7, 8] },
    ]);
  });

  test('the same targets at every length, none twice, each with its own past, nothing outside the sequence', () => {
    const sizes = fc.record({
      scored: fc.integer({ min: 1, max: 12 }),
      multiples: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { minLength: 2 }),
      windows: fc.integer({ min: 1, max: 20 }),
      rowsPerBatch: fc.integer({ min: 1, max: 7 }),
      extra: fc.nat(200),
    });
    fc.assert(
      fc.property(sizes, ({ scored, multiples, windows, rowsPerBatch, extra }) => {
        const longest = scored * Math.max(...multiples);
        const n = longest + 1 + extra;
        const all = multiples.map((k) => {
          const batches = evaluationWindows(
            places(n),
            { length: k * scored, scored, longest, windows, rowsPerBatch },
            'x',
          );
          expect(
            batches.every(
              (b) => b.tokens.rows <= rowsPerBatch && b.tokens.cols === k * scored && b.targets.cols === k * scored,
            ),
          ).toBe(true);
          return batches.flatMap(rowsOf).map(({ tokens, targets }) => {
            expect(targets.slice(0, -scored).every((t) => t === -1)).toBe(true);
            expect(tokens[0]).toBeGreaterThanOrEqual(0);
            for (let t = 1; t < tokens.length; t++) expect(tokens[t]).toBe(tokens[t - 1]! + 1);
            for (let t = tokens.length - scored; t < tokens.length; t++) expect(targets[t]).toBe(tokens[t]! + 1);
            return targets.slice(-scored);
          });
        });
        for (const other of all) expect(other).toEqual(all[0]);
        const scoredPlaces = all[0]!.flat();
        expect(new Set(scoredPlaces).size).toBe(scoredPlaces.length);
        expect(Math.max(...scoredPlaces)).toBeLessThan(n);
        expect(all[0]!.length).toBe(Math.min(windows, Math.floor((n - (longest - scored + 1)) / scored)));
      }),
      { numRuns: 300, seed: 3 },
    );
  });

  test('spread over the whole sequence', () => {
    const firsts = evaluate(10_000, { windows: 10 }).map((row) => row.tokens[0]!);
    expect(firsts).toEqual([0, 999, 1999, 2999, 3999, 4999, 5999, 6999, 7999, 8999]);
  });

  test.each<[string, Partial<EvalRequest>, string]>([
    ['more scored than there are', { scored: 5 }, 'scored ≤ length ≤ longest, and these are 5, 4, 4'],
    ['a length beyond the longest', { length: 8 }, 'and these are 4, 8, 4'],
    ['no rows', { windows: 0 }, 'windows is 0: an integer of at least 1'],
    ['half a row per batch', { rowsPerBatch: 0.5 }, 'rowsPerBatch is 0.5'],
    ['a negative length', { length: -1 }, 'length is -1'],
    ['NaN', { scored: Number.NaN }, 'scored is NaN'],
    ['a short sequence', { longest: 20 }, 'x has 20 tokens, and evaluating 20 at a time needs at least 21'],
  ])('refuses %s', (_, request, message) => {
    expect(() => evaluate(20, request)).toThrow(refusal(message));
  });
});

describe('training windows', () => {
  test('consecutive tokens, the target is the next one, every start is drawn', () => {
    const rows = rowsOf(drawWindows(places(6), stream(1, 'x'), 200, 3, 'x'));
    const starts = new Set(rows.map((row) => row.tokens[0]!));
    expect([...starts].sort()).toEqual([0, 1, 2]);
    for (const { tokens, targets } of rows) {
      expect(tokens).toEqual([0, 1, 2].map((t) => tokens[0]! + t));
      expect(targets).toEqual(tokens.map((t) => t + 1));
    }
  });

  test('equal generators give equal batches; a saved state goes on with the same ones', () => {
    const draw = (random: ReturnType<typeof stream>) => drawWindows(places(10_000), random, 8, 16, 'x');
    const [a, b] = [stream(1, 'data'), stream(1, 'data')];
    expect(draw(a)).toEqual(draw(b));
    const restored = fromState(JSON.parse(JSON.stringify(stateOf(a))));
    const next = draw(a);
    expect(draw(restored)).toEqual(next);
    expect(next).not.toEqual(draw(stream(1, 'data')));
    expect(draw(stream(2, 'data'))).not.toEqual(draw(stream(1, 'data')));
  });

  test('refuses what cannot be drawn', () => {
    expect(() => drawWindows(places(5), stream(1, 'x'), 1, 5, 'the text')).toThrow(
      refusal('the text has 5 tokens, and training on 5 at a time needs at least 6'),
    );
    expect(() => drawWindows(places(5), stream(1, 'x'), 0, 5, 'x')).toThrow(refusal('rows is 0'));
    expect(drawWindows(places(6), stream(1, 'x'), 1, 5, 'x').tokens.cols).toBe(5);
  });
});
