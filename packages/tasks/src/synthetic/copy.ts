/**
 * `copy(abc)=abc` and a newline: symbols repeated in order. Each is found n tokens back, where n changes by row. With
 * one symbol only (`repeat`, `replace`) the task is counting. Variants and sentences are those of Kazemnejad 2023:
 * `Copy: a b c [SEP] a b c` and `Replace x with y in x x x [SEP] y y y`.
 */
import { below, type Random, sample, z } from '@posenc/core';
import { defineProblems, sizeOption, splitOptions, written } from '../problems.ts';
import { pieceTokenizer } from '../tokenizer.ts';
import { formatOption, indices, integerIn, symbolList, symbolsOption } from './draw.ts';

const formats = {
  compact: {
    pieces: ['copy(', 'replace(', ',', ')=', '[NEXT]', '\n'],
    symbol: (symbol: string) => symbol,
    copy: (source: string) => `copy(${source})=`,
    replace: (source: string, x: string, y: string) => `replace(${x},${y},${source})=`,
    next: '[NEXT]',
  },
  sentence: {
    pieces: ['Copy:', 'Replace', ' with', ' in', ' [SEP]', ' [NEXT]', '\n'],
    symbol: (symbol: string) => ` ${symbol}`,
    copy: (source: string) => `Copy:${source} [SEP]`,
    replace: (source: string, x: string, y: string) => `Replace${x} with${y} in${source} [SEP]`,
    next: ' [NEXT]',
  },
};

/**
 * Symbols repeated in order: every answer token stands a fixed distance behind its source, a distance that changes with the
 * row.
 */
export const copy = defineProblems({
  type: 'copy',
  description: 'symbols repeated in order: copy(abc)=abc',
  version: 1,
  config: z.strictObject({
    items: sizeOption(20, 'symbols'),
    symbols: symbolsOption(100),
    variant: z
      .enum(['random', 'repeat', 'replace'])
      .default('random')
      .describe('random: any symbols; repeat: one symbol n times; replace: another symbol n times'),
    times: z
      .union([z.literal(1), z.literal(2)])
      .default(1)
      .describe('2: the answer twice, with [NEXT] between if the symbols are random'),
    format: formatOption,
    ...splitOptions,
  }),
  family({ items, symbols, variant, times, format }) {
    const { pieces, symbol, copy: ask, replace, next } = formats[format];
    const names = symbolList.slice(0, symbols).map(symbol);
    const tokenizer = pieceTokenizer([...pieces, ...names]);
    const between = times === 2 && variant === 'random' ? next : '';
    const write = (question: string, answer: string) =>
      written(tokenizer, question, `${times === 1 ? answer : `${answer}${between}${answer}`}\n`);
    const draw = {
      random(random: Random, n: number) {
        const source = indices(random, n, symbols).map((i) => names[i]);
        return write(ask(source.join('')), source.join(''));
      },
      repeat(random: Random, n: number) {
        const source = names[below(random, symbols)]!.repeat(n);
        return write(ask(source), source);
      },
      replace(random: Random, n: number) {
        const [x, y] = sample(random, symbols, 2).map((i) => names[i]!) as [string, string];
        return write(replace(x.repeat(n), x, y), y.repeat(n));
      },
    }[variant];
    const frame = variant === 'replace' ? 6 : 2;
    return {
      tokenizer,
      answers: [...names, '\n', ...(between ? [between] : [])],
      size: items,
      unit: 'items',
      longest: (n) => frame + (1 + times) * n + (between ? 1 : 0),
      train: (random) => draw(random, integerIn(random, 1, items)),
      between: (random, low, high) => draw(random, integerIn(random, low, high)),
    };
  },
});
