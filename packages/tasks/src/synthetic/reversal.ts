/**
 * `rev(5973245481290159)=9510921845423795` and a newline: a number backwards, as in the code of arXiv 2501.00073. The i-th
 * digit of the answer is found 2i tokens back: every row asks for many distances, the longest grows with the number.
 */
import { type Random, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { charactersOf, charTokenizer } from '../tokenizer.ts';
import { integerIn, lengthsOption, numberBelow, numberOf, reversed } from './draw.ts';

/** A number backwards: distances grow by two with every digit. */
export const reversal = defineProblems({
  type: 'reversal',
  description: 'a number backwards: rev(5973)=3795',
  version: 1,
  config: z.strictObject({ digits: sizeOption(16, 'digits'), lengths: lengthsOption, ...splitOptions }),
  family({ digits, lengths }) {
    const tokenizer = charTokenizer(charactersOf('0123456789rev()=\n'));
    const write = (x: string) => written(tokenizer, `rev(${x})=`, `${reversed(x)}\n`);
    const between = (random: Random, low: number, high: number) =>
      write(numberOf(random, integerIn(random, low, high)));
    return {
      tokenizer,
      answers: [...'0123456789\n'],
      size: digits,
      unit: 'digits',
      longest: (n) => 2 * n + 6,
      train: (random) => (lengths === 'natural' ? write(numberBelow(random, digits)) : between(random, 1, digits)),
      between,
    };
  },
});
