/** What synthetic problems are drawn from: numbers of a given length, and symbols. */
import { below, type Random, z } from '@posenc/core';

/** Uniform in low … high. */
export const integerIn = (random: Random, low: number, high: number): number => low + below(random, high - low + 1);

/** n elements, each uniform in 0 … size − 1. */
export const indices = (random: Random, n: number, size: number): number[] =>
  Array.from({ length: n }, () => below(random, size));

/** A uniform number of exactly so many digits, as text: 0 … 9, 10 … 99, … */
export function numberOf(random: Random, digits: number): string {
  const rest = indices(random, digits - 1, 10).join('');
  return `${digits === 1 ? below(random, 10) : integerIn(random, 1, 9)}${rest}`;
}

/** A uniform number below 10^digits, as text without leading zeros: 90 % have all digits, 9 % one less, … */
export const numberBelow = (random: Random, digits: number): string =>
  indices(random, digits, 10)
    .join('')
    .replace(/^0+(?=.)/, '');

/** How the lengths of training problems are distributed. */
export const lengthsOption = z
  .enum(['natural', 'balanced'])
  .default('natural')
  .describe(
    'natural: numbers uniform below 10^digits, so that 90 % have all digits; balanced: every length equally likely',
  );

export const formatOption = z
  .enum(['compact', 'sentence'])
  .default('compact')
  .describe('compact: a short formula; sentence: the English lines of Kazemnejad 2023, a token per word');

const alphabet = (from: string, to: string): string[] => {
  const [first, last] = [from.codePointAt(0)!, to.codePointAt(0)!];
  return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
};

/** A hundred symbols in order: digits, Latin and Greek letters. */
export const symbolList: readonly string[] = [
  ...alphabet('0', '9'),
  ...alphabet('a', 'z'),
  ...alphabet('A', 'Z'),
  ...alphabet('α', 'ω'),
  ...alphabet('Α', 'Ν'),
];

export const symbolsOption = (initial: number) =>
  z
    .int()
    .min(2)
    .max(symbolList.length)
    .default(initial)
    .describe('how many different symbols there are: the digits, then Latin, then Greek letters');

export const reversed = (text: string): string => [...text].reverse().join('');

/** Every distinct piece once, in order. */
export const distinct = (pieces: Iterable<string>): string[] => [...new Set(pieces)];
