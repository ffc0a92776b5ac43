/**
 * `parity(101)=0`: 1 if the number of ones is odd. The order of the bits does not matter, so positions can help only to look at
 * each once; as a sentence (Kazemnejad 2023): `Is the number of 1's even in the sequence [ 1, 0, 1 ] ? The answer is Yes.`
 */
import { type Random, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { pieceTokenizer } from '../tokenizer.ts';
import { formatOption, indices, integerIn } from './draw.ts';

const formats = {
  compact: {
    tokenizer: pieceTokenizer(['parity(', '0', '1', ')=']),
    question: (bits: readonly number[]) => `parity(${bits.join('')})=`,
    answers: ['0', '1'],
    end: '',
    longest: (n: number) => n + 2,
  },
  sentence: {
    tokenizer: pieceTokenizer([
      "Is the number of 1's even in the sequence [",
      ' 0',
      ' 1',
      ',',
      ' ] ?',
      ' The answer is',
      ' Yes',
      ' No',
      '.',
    ]),
    question: (bits: readonly number[]) =>
      `Is the number of 1's even in the sequence [ ${bits.join(', ')} ] ? The answer is`,
    answers: [' Yes', ' No'],
    end: '.',
    longest: (n: number) => 2 * n + 3,
  },
};

/** Whether the number of ones is odd: all places count alike. */
export const parity = defineProblems({
  type: 'parity',
  description: 'is the number of ones odd? parity(101)=0',
  version: 1,
  config: z.strictObject({ bits: sizeOption(20, 'bits'), format: formatOption, ...splitOptions }),
  family({ bits, format }) {
    const { tokenizer, question, answers, end, longest } = formats[format];
    const ofLength = (random: Random, n: number) => {
      const drawn = indices(random, n, 2);
      const odd = drawn.reduce((a, b) => a ^ b);
      return written(tokenizer, question(drawn), `${answers[odd]}${end}`);
    };
    return {
      tokenizer,
      answers: [...answers, ...(end ? [end] : [])],
      size: bits,
      unit: 'bits',
      longest,
      train: (random) => ofLength(random, integerIn(random, 1, bits)),
      between: (random, low, high) => ofLength(random, integerIn(random, low, high)),
    };
  },
});
