/**
 * `order(74283,87234)=30241` and a newline: x, then its symbols shuffled to y; the answer is p with y[m] = x[p[m]], as in the
 * code of arXiv 2501.00073. Symbols are distinct, so content finds the place, and the answer names it: absolute positions.
 * An index is one token: the m-th of 0 … 9, a … z, A … Z. Test problems share no x with training.
 */
import { below, PosencError, permutation, type Random, sample, uniform, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { charactersOf, charTokenizer } from '../tokenizer.ts';
import { integerIn, lengthsOption, reversed, symbolList } from './draw.ts';

const names = symbolList.slice(0, 62);

/** How a number was shuffled: for each symbol the place it came from. */
export const ordering = defineProblems({
  type: 'ordering',
  description: 'how a number was shuffled: order(74283,87234)=30241',
  version: 1,
  config: z.strictObject({
    items: sizeOption(5, 'distinct symbols'),
    symbols: z
      .int()
      .min(2)
      .max(names.length)
      .default(10)
      .describe('how many different symbols there are: the digits, then letters. No problem can have more items'),
    lengths: lengthsOption.describe(
      'natural: as the numbers below 10^items whose digits are distinct, so that 84 % of 5 have 5; balanced: 2 to all equally likely',
    ),
    reversed: z.boolean().default(false).describe('the answer backwards'),
    ...splitOptions,
  }),
  family({ items, symbols, lengths, reversed: backwards }) {
    const tokenizer = charTokenizer(charactersOf(`order(,)=\n${names.slice(0, symbols).join('')}`));
    const write = (random: Random, x: readonly number[]) => {
      const p = permutation(random, x.length);
      const [asked, shuffled] = [x.map((i) => names[i]), p.map((m) => names[x[m]!])].map((list) => list.join(''));
      const answer = p.map((m) => names[m]).join('');
      return written(tokenizer, `order(${asked},${shuffled})=`, `${backwards ? reversed(answer) : answer}\n`, asked);
    };
    const ofLength = (random: Random, n: number) => write(random, distinctSymbols(random, n, symbols));
    const check = (n: number) => {
      if (n > symbols)
        throw new PosencError(
          `ordering: problems of ${n} items need ${n} different symbols, and "symbols" is ${symbols}: use more of them (at most ${names.length}), fewer "items" or smaller multiples`,
        );
    };
    check(items);
    return {
      tokenizer,
      answers: [...names.slice(0, symbols), '\n'],
      size: items,
      unit: 'items',
      longest(n) {
        check(n);
        return 3 * n + 9;
      },
      train: (random) =>
        ofLength(
          random,
          lengths === 'natural' ? naturalLength(random, items, symbols) : integerIn(random, Math.min(2, items), items),
        ),
      between: (random, low, high) => ofLength(random, integerIn(random, low, high)),
    };
  },
});

/** n distinct symbols; like a number, more than one do not begin with symbol 0. */
function distinctSymbols(random: Random, n: number, symbols: number): number[] {
  if (n === 1) return [below(random, symbols)];
  for (;;) {
    const x = sample(random, symbols, n);
    if (x[0] !== 0) return x;
  }
}

/** Lengths as often as there are such x: S of one symbol, (S − 1)·(S − 1)·(S − 2) ⋯ (S − n + 1) of n. */
function naturalLength(random: Random, items: number, symbols: number): number {
  const counts = [symbols];
  for (let n = 2, count = symbols - 1; n <= items; n++) {
    count *= symbols - n + 1;
    counts.push(count);
  }
  let left = uniform(random) * counts.reduce((a, b) => a + b);
  for (let n = items; n > 1; n--) {
    left -= counts[n - 1]!;
    if (left < 0) return n;
  }
  return 1;
}
