/**
 * At every place the token k places back: the purest question about relative position, for content says nothing. The targets
 * are not the next tokens, so this is no language model. Rows of training are full; beyond it only the places past the
 * training ones are scored, as the ones before them would look learnt.
 */
import { PosencError, type Random, z } from '@posenc/core';
import { defineProblems, type Problem, sizeOption, splitOptions } from '../problems.ts';
import { charTokenizer } from '../tokenizer.ts';
import { indices, integerIn, symbolList, symbolsOption } from './draw.ts';

/** At every place the token k places back. */
export const fixedOffset = defineProblems({
  type: 'fixed-offset',
  description: 'at every place the token k places back',
  version: 1,
  config: z.strictObject({
    items: sizeOption(32, 'tokens', 2),
    offset: z.int().min(1).max(4095).default(8).describe('k: how many places back'),
    symbols: symbolsOption(10),
    ...splitOptions,
  }),
  family({ items, offset, symbols }) {
    if (offset >= items)
      throw new PosencError(
        `fixed-offset: "offset" is ${offset} and "items" ${items}: no token has one ${offset} places before it; use more items or a smaller offset`,
      );
    const names = symbolList.slice(0, symbols);
    const ofLength = (random: Random, n: number): Problem => {
      const tokens = Int32Array.from(indices(random, n, symbols));
      const trained = items * Math.floor((n - 1) / items);
      const targets = tokens.map((_, t) => (t >= Math.max(offset, trained) ? tokens[t - offset]! : -1));
      return { tokens, targets, key: tokens.join(' ') };
    };
    return {
      tokenizer: charTokenizer(names),
      answers: names,
      size: items,
      unit: 'items',
      longest: (n) => n,
      train: (random) => ofLength(random, items),
      between: (random, low, high) => ofLength(random, integerIn(random, low, high)),
    };
  },
});
