/** Rows read back as text, and what each line must be: worked out here in another way than by the generators. */

import type { Grid } from '@posenc/core';
import { expect } from 'vitest';
import { type Batch, builtInTasks, createTaskRegistry, type Task } from '../src/index.ts';

export const registry = createTaskRegistry(builtInTasks);
export const create = (config: object): Task => registry.create(config);

export interface Line {
  /** Everything up to the first scored token. */
  readonly question: string;
  readonly answer: string;
  readonly tokens: number;
}

/** Row b: its tokens, then the last target, which is no token of the row. Throws when padding or targets are not as promised. */
export function linesOf(task: Task, batches: readonly Batch[]): Line[] {
  return batches.flatMap(({ tokens, targets, mask }) =>
    Array.from({ length: tokens.rows }, (_, b) => {
      const row = ({ data, cols }: Grid) => data.subarray(b * cols, (b + 1) * cols);
      const n = mask ? row(mask).lastIndexOf(1) + 1 : tokens.cols;
      const padded = !mask || row(mask).every((real, t) => real === (t < n ? 1 : 0));
      const scored = row(targets).findIndex((target) => target >= 0);
      const expected = row(targets).subarray(scored, n);
      const only = row(targets).every((target, t) => target >= 0 === (t >= scored && t < n));
      // Next-token prediction: an answer token is the input at the place after it.
      const next = row(tokens)
        .subarray(scored + 1, n)
        .every((token, i) => token === expected[i]);
      if (!padded || !only || !next) throw new Error(`row ${b} is not a padded line: ${row(tokens)} / ${row(targets)}`);
      const [question, answer] = [row(tokens).subarray(0, scored + 1), expected].map((ids) =>
        task.tokenizer.decode(ids),
      );
      return { question: question!, answer: answer!, tokens: n };
    }),
  );
}

export interface Checked {
  readonly size: number;
  /** What must not be on both sides of the split. */
  readonly problem: string;
}

export type Config = Readonly<Record<string, unknown>>;
type Check = (line: string, config: Config) => Checked;

const match = (line: string, pattern: RegExp): string[] => {
  const found = pattern.exec(line);
  if (!found) throw new Error(`${JSON.stringify(line)} does not match ${pattern}`);
  return found.slice(1);
};
const spaced = (text: string) => text.replaceAll(' ', '');

/** Column by column, as at school. */
function columnSum(a: string, b: string): string {
  let [sum, carry] = ['', 0];
  for (let i = 1; i <= Math.max(a.length, b.length); i++) {
    const column = Number(a.at(-i) ?? 0) + Number(b.at(-i) ?? 0) + carry;
    sum = `${column % 10}${sum}`;
    carry = column >= 10 ? 1 : 0;
  }
  return carry ? `1${sum}` : sum;
}

const order = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξοπρςστυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝ';

function checkSorted(list: readonly string[], sorted: readonly string[], { values, descending }: Config): void {
  const rank = (item: string) => (values === 'numbers' ? Number(item) : order.indexOf(item));
  const rising = sorted.every((item, i) => i === 0 || (rank(item) - rank(sorted[i - 1]!)) * (descending ? -1 : 1) >= 0);
  expect([rising, [...list].sort()]).toEqual([true, [...sorted].sort()]);
  if (values === 'numbers') expect(list.every((item) => /^[1-9]\d{1,3}$/.test(item))).toBe(true);
}

const primitive: Readonly<Record<string, string>> = { walk: 'WALK', look: 'LOOK', run: 'RUN', jump: 'JUMP', turn: '' };

/** The paper's interpretation function, from the outside in. */
export function interpret(command: string): string[] {
  const split = (word: string) => command.split(` ${word} `);
  if (split('and').length === 2) return split('and').flatMap(interpret);
  if (split('after').length === 2) return split('after').reverse().flatMap(interpret);
  const [, once, count] = /^(.*?)(?: (twice|thrice))?$/.exec(command)!;
  if (count) return new Array<string>(count === 'twice' ? 2 : 3).fill(once!).flatMap(interpret);
  const [verb, ...rest] = command.split(' ');
  const act = primitive[verb!] ? [`I_${primitive[verb!]}`] : [];
  if (rest.length === 0) return act;
  const turn = `I_TURN_${rest.at(-1)!.toUpperCase()}`;
  if (rest[0] === 'opposite') return [turn, turn, ...act];
  if (rest[0] === 'around') return [1, 2, 3, 4].flatMap(() => [turn, ...act]);
  return [turn, ...act];
}

/** Throws unless the line is well formed and its answer right. */
export const checks: Readonly<Record<string, Check>> = {
  addition(line, { format, reversed }) {
    const sentence = format === 'sentence';
    const [a, b, c] = (
      sentence
        ? match(line, /^Compute((?: \d)+) \+((?: \d)+) \? The answer is((?: \d)+)\.$/).map(spaced)
        : match(line, /^\$(\d+)\+(\d+)=(\d+)\$$/)
    ) as [string, string, string];
    for (const number of [a, b]) expect(number).toMatch(/^(0|[1-9]\d*)$/);
    expect((reversed ?? !sentence) ? [...c].reverse().join('') : c).toBe(columnSum(a, b));
    return { size: Math.max(a.length, b.length), problem: [a, b].sort().join() };
  },
  reversal(line) {
    const [x, y] = match(line, /^rev\((0|[1-9]\d*)\)=(\d+)\n$/) as [string, string];
    expect([...y].map((_, i) => y[y.length - 1 - i]).join('')).toBe(x);
    return { size: x.length, problem: x };
  },
  indexing(line) {
    const [x, digit, answer] = match(line, /^wherex\((0|[1-9]\d*),(\d)\)=(0|[1-9]\d*)\n$/) as [string, string, string];
    const place = Number(answer);
    expect(x[place]).toBe(digit);
    expect(x.slice(0, place)).not.toContain(digit);
    return { size: x.length, problem: `${x},${digit}` };
  },
  ordering(line, { reversed }) {
    const [x, y, answer] = match(line, /^order\((\w+),(\w+)\)=(\w+)\n$/) as [string, string, string];
    const p = reversed ? [...answer].reverse() : [...answer];
    expect(p.map((index) => x[order.indexOf(index)]).join('')).toBe(y);
    expect(new Set(x).size).toBe(x.length);
    expect([...x].sort()).toEqual([...y].sort());
    expect(x).toMatch(/^(0|[^0].*)$/);
    return { size: x.length, problem: x };
  },
  copy(line, { format, variant, times }) {
    const sentence = format === 'sentence';
    const text = line.replaceAll(sentence ? ' ' : '\0', '');
    const [question, answer] = match(text, sentence ? /^(.*)\[SEP\](.*)\n$/ : /^(.*\))=(.*)\n$/) as [string, string];
    let expected: string;
    let source: string;
    if (variant === 'replace') {
      const parts = match(question, sentence ? /^Replace(.)with(.)in(.*)$/ : /^replace\((.),(.),(.*)\)$/);
      const [x, y] = parts as [string, string];
      source = parts[2]!;
      expect(x).not.toBe(y);
      expect(source.replaceAll(x, '')).toBe('');
      expected = y.repeat(source.length);
    } else {
      source = match(question, sentence ? /^Copy:(.*)$/ : /^copy\((.*)\)$/)[0]!;
      if (variant === 'repeat') expect(new Set(source).size).toBe(1);
      expected = source;
    }
    const middle = (variant ?? 'random') === 'random' ? '[NEXT]' : '';
    expect(answer).toBe(times === 2 ? expected + middle + expected : expected);
    return { size: source.length, problem: question };
  },
  parity(line, { format }) {
    const sentence = format === 'sentence';
    const [bits, answer] = match(
      line,
      sentence
        ? /^Is the number of 1's even in the sequence \[ ([01](?:, [01])*) \] \? The answer is (Yes|No)\.$/
        : /^parity\(([01]+)\)=([01])$/,
    ) as [string, string];
    const ones = bits.split('1').length - 1;
    expect(answer).toBe((sentence ? ['Yes', 'No'] : ['0', '1'])[ones % 2]);
    return { size: bits.replaceAll(', ', '').length, problem: bits };
  },
  sorting(line, config) {
    const numbers = config.values === 'numbers';
    const sentence = config.format === 'sentence';
    const [list, sorted] = match(
      line,
      sentence ? /^Sort the following list \[ (.+) \]\. The sorted list is \[ (.+) \]\.$/ : /^sort\((.+)\)=(.+)\n$/,
    ) as [string, string];
    const items = (text: string) => (sentence ? text.split(', ').map(spaced) : numbers ? text.split(',') : [...text]);
    checkSorted(items(list), items(sorted), config);
    return { size: items(list).length, problem: list };
  },
  'modular-addition'(line, { format, mod = 10 }) {
    const [terms, answer] = match(
      line,
      format === 'sentence' ? /^Compute: (\d+(?: \+ \d+)*) \. The answer is (\d+) \.$/ : /^(\d+(?:\+\d+)*)=(\d+)$/,
    ) as [string, string];
    const values = spaced(terms).split('+').map(Number);
    for (const value of values) expect(value).toBeLessThan(mod as number);
    let rest = -Number(answer);
    for (const value of values) rest += value;
    expect(Math.abs(rest % (mod as number))).toBe(0);
    expect(Number(answer)).toBeLessThan(mod as number);
    return { size: values.length, problem: values.sort((a, b) => a - b).join() };
  },
  scan(line) {
    const [command, actions] = match(line, /^IN: ([a-z ]+) OUT: ([A-Z_ ]+)\n$/) as [string, string];
    expect(actions).toBe(interpret(command).join(' '));
    return { size: actions.split(' ').length, problem: command };
  },
};

/** Checks every row and gives what it found. */
export function checkBatches(
  task: Task,
  config: Config & { type: string },
  batches: readonly Batch[],
): (Checked & Line)[] {
  return linesOf(task, batches).map((line) => ({
    ...line,
    ...checks[config.type]!(line.question + line.answer, config),
  }));
}

/** The smallest row, from the message that refuses a shorter one. */
export function smallestLength(draw: (length: number) => unknown): number {
  try {
    draw(1);
  } catch (error) {
    return Number(/the smallest training "length" that fits is (\d+)$/.exec((error as Error).message)![1]);
  }
  return 1;
}
