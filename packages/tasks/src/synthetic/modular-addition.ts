/**
 * `3+5+9=7`: a sum of terms 0 … mod − 1, modulo `mod`; a number is one token. The order of the terms does not matter. Two terms
 * and a prime are the task of "grokking" (Power 2022, arXiv 2201.02177). As a sentence (the sum task of Kazemnejad 2023):
 * `Compute: 3 + 5 + 9 . The answer is 7 .`
 */
import { type Random, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { pieceTokenizer } from '../tokenizer.ts';
import { formatOption, indices, integerIn } from './draw.ts';

const formats = {
  compact: {
    pieces: ['+', '='],
    number: (value: number) => `${value}`,
    question: (sum: string) => `${sum}=`,
    plus: '+',
    end: '',
    longest: (n: number) => 2 * n,
  },
  sentence: {
    pieces: ['Compute:', ' +', ' .', ' The answer is'],
    number: (value: number) => ` ${value}`,
    question: (sum: string) => `Compute:${sum} . The answer is`,
    plus: ' +',
    end: ' .',
    longest: (n: number) => 2 * n + 3,
  },
};

/** A sum modulo a number: every term counts, wherever it stands. */
export const modularAddition = defineProblems({
  type: 'modular-addition',
  description: 'a sum modulo a number: 3+5+9=7 modulo 10',
  version: 1,
  config: z.strictObject({
    terms: sizeOption(8, 'terms', 2),
    mod: z.int().min(2).max(9999).default(10).describe('the modulus; terms are 0 … mod − 1'),
    format: formatOption,
    ...splitOptions,
  }),
  family({ terms, mod, format }) {
    const { pieces, number, question, plus, end, longest } = formats[format];
    const names = Array.from({ length: mod }, (_, value) => number(value));
    const tokenizer = pieceTokenizer([...pieces, ...names]);
    const ofLength = (random: Random, n: number) => {
      const drawn = indices(random, n, mod);
      const sum = drawn.reduce((a, b) => (a + b) % mod);
      // The same terms in another order are the same problem.
      const key = drawn.toSorted((a, b) => a - b).join('+');
      return written(tokenizer, question(drawn.map(number).join(plus)), `${number(sum)}${end}`, key);
    };
    return {
      tokenizer,
      answers: [...names, ...(end ? [end] : [])],
      size: terms,
      unit: 'terms',
      longest,
      train: (random) => ofLength(random, integerIn(random, 2, terms)),
      between: (random, low, high) => ofLength(random, integerIn(random, low, high)),
    };
  },
});
