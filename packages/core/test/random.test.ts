import { describe, expect, it } from 'vitest';
import { below, fromState, normal, permutation, sample, stateOf, stream, uniform } from '../src/index.ts';

describe('random streams', () => {
  it('repeat for the same seed and name, and differ for any other', () => {
    const draw = (seed: number, name: string) =>
      Array.from(
        { length: 4 },
        (
          (r) => () =>
            r.next()
        )(stream(seed, name)),
      );
    expect(draw(1, 'a')).toEqual(draw(1, 'a'));
    const others = [draw(1, 'a'), draw(2, 'a'), draw(1, 'b'), draw(0, 'a'), draw(-1, 'a')].map(String);
    expect(new Set(others).size).toBe(others.length);
  });

  it('continue from a saved state', () => {
    const random = stream(7, 'x');
    uniform(random);
    const copy = fromState(JSON.parse(JSON.stringify(stateOf(random))));
    expect(Array.from({ length: 5 }, () => normal(copy))).toEqual(Array.from({ length: 5 }, () => normal(random)));
  });

  it('draw normals with mean 0 and variance 1, also across neighbouring stream names', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => normal(stream(3, `param.${i}`)));
    const mean = values.reduce((a, b) => a + b) / values.length;
    const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(5 / Math.sqrt(values.length));
    expect(Math.abs(variance - 1)).toBeLessThan(5 * Math.sqrt(2 / values.length));
  });

  it('shuffle and sample without repeats', () => {
    const random = stream(5, 'p');
    expect(permutation(random, 50).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    const drawn = sample(random, 1000, 900);
    expect(new Set(drawn).size).toBe(900);
    expect(Math.max(...drawn)).toBeLessThan(1000);
    expect(below(random, 1)).toBe(0);
  });
});
