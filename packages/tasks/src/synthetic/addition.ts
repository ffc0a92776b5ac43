/**
 * `$123+456=975$`: a sum, by default with its digits reversed, so that carries run with the text, as in the code of arXiv
 * 2501.00073. Digits of equal weight must be brought together, at distances that depend on both lengths and on the place.
 * As a sentence (Kazemnejad 2023): `Compute 1 2 + 3 4 ? The answer is 4 6.`
 */
import { below, type Random, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { charactersOf, charTokenizer, pieceTokenizer } from '../tokenizer.ts';
import { formatOption, integerIn, lengthsOption, numberBelow, numberOf, reversed } from './draw.ts';

const digitList = [...'0123456789'];
const spaced = (number: string) => [...number].map((digit) => ` ${digit}`).join('');

const formats = {
  compact: {
    tokenizer: charTokenizer(charactersOf('0123456789+=$')),
    answers: [...digitList, '$'],
    question: (a: string, b: string) => `$${a}+${b}=`,
    answer: (sum: string) => `${sum}$`,
    longest: (n: number) => 3 * n + 4,
  },
  sentence: {
    tokenizer: pieceTokenizer(['Compute', ' +', ' ?', ' The answer is', '.', ...digitList.map((digit) => ` ${digit}`)]),
    answers: [...digitList.map((digit) => ` ${digit}`), '.'],
    question: (a: string, b: string) => `Compute${spaced(a)} +${spaced(b)} ? The answer is`,
    answer: (sum: string) => `${spaced(sum)}.`,
    longest: (n: number) => 3 * n + 5,
  },
};

/** The sum of two numbers, answer reversed or plain: carries go one way, reading the other. */
export const addition = defineProblems({
  type: 'addition',
  description: 'the sum of two numbers, digits reversed or plain: $123+456=975$',
  version: 1,
  config: z.strictObject({
    digits: sizeOption(3, 'digits of the longer number'),
    reversed: z
      .boolean()
      .optional()
      .describe('the digits of the sum backwards; default: true when compact, false in sentences'),
    format: formatOption,
    lengths: lengthsOption.describe(
      'natural: both numbers uniform below 10^digits; balanced: every pair of lengths equally likely',
    ),
    ...splitOptions,
  }),
  family({ digits, reversed: backwards, format, lengths }) {
    const { tokenizer, answers, question, answer, longest } = formats[format];
    const turn = (backwards ?? format === 'compact') ? reversed : (sum: string) => sum;
    const write = ([a, b]: readonly [string, string]) => {
      const sum = `${BigInt(a) + BigInt(b)}`;
      // b + a is the same problem.
      return written(tokenizer, question(a, b), answer(turn(sum)), [a, b].sort().join('+'));
    };
    const pair = lengths === 'natural' ? naturalPair : balancedPair;
    return {
      tokenizer,
      answers,
      size: digits,
      unit: 'digits',
      longest,
      train: (random) =>
        write(
          lengths === 'natural'
            ? [numberBelow(random, digits), numberBelow(random, digits)]
            : [numberOf(random, integerIn(random, 1, digits)), numberOf(random, integerIn(random, 1, digits))],
        ),
      between: (random, low, high) => write(pair(random, integerIn(random, low, high))),
    };
  },
});

/** Two uniform numbers below 10^n of which the longer has n digits. */
function naturalPair(random: Random, n: number): readonly [string, string] {
  for (;;) {
    const [a, b] = [numberBelow(random, n), numberBelow(random, n)];
    if (Math.max(a.length, b.length) === n) return [a, b];
  }
}

/** The longer has n digits: each of the 2n − 1 pairs of lengths is equally likely. */
function balancedPair(random: Random, n: number): readonly [string, string] {
  const i = below(random, 2 * n - 1);
  const [j, k] = i < n ? [n, i + 1] : [i - n + 1, n];
  return [numberOf(random, j), numberOf(random, k)];
}
