import { expect, it } from 'vitest';
import { explicit, keepLast, range } from '../src/index.ts';

it('keepLast answers again for equal positions only, and notices a grid that was changed in place', () => {
  let calls = 0;
  const sum = keepLast(({ data }) => {
    calls += 1;
    return data.reduce((a, b) => a + b, 0);
  });
  const grid = range(4);
  expect([sum(grid), sum(range(4)), calls]).toEqual([6, 6, 1]);
  expect([sum(range(5)), sum(range(4, 1)), calls]).toEqual([10, 10, 3]);
  expect([
    sum(
      explicit([
        [1, 2],
        [3, 4],
      ]),
    ),
    calls,
  ]).toEqual([10, 4]); // the same numbers in other rows
  expect(sum(grid)).toBe(6);
  grid.data[0] = 100;
  expect([sum(grid), calls]).toEqual([106, 6]);
});
