/**
 * `sort(badc)=abcd` and a newline: the answer depends on the symbols alone, not on where they stand; yet each token of it must
 * know how many came before. As a sentence (Kazemnejad 2023): `Sort the following list [ b, a ]. The sorted list is [ a, b ].`
 */
import { type Random, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { pieceTokenizer } from '../tokenizer.ts';
import { formatOption, indices, integerIn, symbolList, symbolsOption } from './draw.ts';

const digits = [...'0123456789'];

const formats = {
  compact: {
    pieces: ['sort(', ')=', '\n'],
    symbol: (symbol: string) => symbol,
    numberSeparator: ',',
    symbolSeparator: '',
    question: (list: string) => `sort(${list})=`,
    answer: (list: string) => `${list}\n`,
    frame: 2,
  },
  sentence: {
    pieces: ['Sort the following list [', ' ].', ' The sorted list is ['],
    symbol: (symbol: string) => ` ${symbol}`,
    numberSeparator: ',',
    symbolSeparator: ',',
    question: (list: string) => `Sort the following list [${list} ]. The sorted list is [`,
    answer: (list: string) => `${list} ].`,
    frame: 3,
  },
};

/** Symbols or numbers in order. */
export const sorting = defineProblems({
  type: 'sorting',
  description: 'symbols or numbers in order: sort(badc)=abcd',
  version: 1,
  config: z.strictObject({
    items: sizeOption(16, 'items'),
    values: z
      .enum(['symbols', 'numbers'])
      .default('symbols')
      .describe('numbers: integers from 10 to 9999, digit by digit, with commas'),
    symbols: symbolsOption(50),
    descending: z.boolean().default(false).describe('largest first'),
    format: formatOption,
    ...splitOptions,
  }),
  family({ items, values, symbols, descending, format }) {
    const { pieces, symbol, numberSeparator, symbolSeparator, question, answer, frame } = formats[format];
    const numeric = values === 'numbers';
    const names = (numeric ? digits : symbolList.slice(0, symbols)).map(symbol);
    const separator = numeric ? numberSeparator : symbolSeparator;
    const tokenizer = pieceTokenizer([...pieces, ...names, ...(separator ? [separator] : [])]);
    const name = (value: number) => (numeric ? [...`${value}`].map(symbol).join('') : names[value]!);
    const ofLength = (random: Random, n: number) => {
      const list = numeric ? Array.from({ length: n }, () => integerIn(random, 10, 9999)) : indices(random, n, symbols);
      const sorted = list.toSorted((a, b) => (descending ? b - a : a - b));
      const text = (of: readonly number[]) => of.map(name).join(separator);
      return written(tokenizer, question(text(list)), answer(text(sorted)));
    };
    const tokensPerItem = (numeric ? 4 : 1) + (separator ? 1 : 0);
    return {
      tokenizer,
      answers: [...names, ...(separator ? [separator] : []), format === 'compact' ? '\n' : ' ].'],
      size: items,
      unit: 'items',
      // A list has one separator less than items.
      longest: (n) => frame + 2 * (tokensPerItem * n - (separator ? 1 : 0)),
      train: (random) => ofLength(random, integerIn(random, Math.min(2, items), items)),
      between: (random, low, high) => ofLength(random, integerIn(random, low, high)),
    };
  },
});
