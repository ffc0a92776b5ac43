/**
 * `wherex(360465066,6)=1` and a newline: the first place, from 0, of a digit that occurs in a number, as in the code of arXiv
 * 2501.00073. The answer *is* an absolute position; beyond training it takes answers that training never had.
 */
import { below, type Random, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { charactersOf, charTokenizer } from '../tokenizer.ts';
import { integerIn, lengthsOption, numberBelow, numberOf } from './draw.ts';

/** The first place of a digit in a number: an absolute position is the answer. */
export const indexing = defineProblems({
  type: 'indexing',
  description: 'the first place of a digit in a number: wherex(360465066,6)=1',
  version: 1,
  config: z.strictObject({ digits: sizeOption(9, 'digits'), lengths: lengthsOption, ...splitOptions }),
  family({ digits, lengths }) {
    const tokenizer = charTokenizer(charactersOf('0123456789wherx(,)=\n'));
    const write = (random: Random, x: string) => {
      const digit = x[below(random, x.length)]!;
      return written(tokenizer, `wherex(${x},${digit})=`, `${x.indexOf(digit)}\n`);
    };
    const between = (random: Random, low: number, high: number) =>
      write(random, numberOf(random, integerIn(random, low, high)));
    return {
      tokenizer,
      answers: [...'0123456789\n'],
      size: digits,
      unit: 'digits',
      longest: (n) => n + 11 + `${n - 1}`.length,
      train: (random) =>
        lengths === 'natural' ? write(random, numberBelow(random, digits)) : between(random, 1, digits),
      between,
    };
  },
});
