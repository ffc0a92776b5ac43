/**
 * SCAN (Lake & Baroni 2018, arXiv 1711.00350): all 20,910 commands of its grammar and the actions they mean, generated here:
 *
 *     C → S | S and S | S after S      S → V | V twice | V thrice      U → walk | look | run | jump
 *     V → U | D | X opposite Y | X around Y      D → X Y      X → U | turn      Y → left | right
 *
 * `IN: jump left OUT: I_TURN_LEFT I_JUMP` and a newline; a word is a token. The size is the number of actions. `actions` 22 is
 * the paper's length split (16,990 commands for training), 25 that of Kazemnejad 2023, whose test is the 26 … 48 of k = 2.
 */
import { below, PosencError, type Random, z } from '@posenc/core';
import { defineProblems, splitOptions, written } from '../problems.ts';
import { pieceTokenizer } from '../tokenizer.ts';

/** A command, or a part of one, and what it means. */
export interface Phrase {
  readonly words: readonly string[];
  readonly actions: readonly string[];
}

const phrase = (words: string, actions: readonly string[]): Phrase => ({ words: words.split(' '), actions });
const times = (n: number, actions: readonly string[]) => Array.from({ length: n }, () => actions).flat();

const verbs = ['walk', 'look', 'run', 'jump'].map((verb) => phrase(verb, [`I_${verb.toUpperCase()}`]));

const directed = [...verbs, phrase('turn', [])].flatMap(({ words: [verb], actions }) =>
  ['left', 'right'].flatMap((side) => {
    const turn = `I_TURN_${side.toUpperCase()}`;
    return [
      phrase(`${verb} ${side}`, [turn, ...actions]),
      phrase(`${verb} opposite ${side}`, [turn, turn, ...actions]),
      phrase(`${verb} around ${side}`, times(4, [turn, ...actions])),
    ];
  }),
);

const sentences = [...verbs, ...directed].flatMap(({ words, actions }) => [
  { words, actions },
  { words: [...words, 'twice'], actions: times(2, actions) },
  { words: [...words, 'thrice'], actions: times(3, actions) },
]);

/** Every command of the grammar, once. */
export function scanCommands(): Phrase[] {
  const pairs = sentences.flatMap((a) =>
    sentences.flatMap((b) => [
      { words: [...a.words, 'and', ...b.words], actions: [...a.actions, ...b.actions] },
      { words: [...a.words, 'after', ...b.words], actions: [...b.actions, ...a.actions] },
    ]),
  );
  return [...sentences, ...pairs];
}

/** At n: tokens of the longest row among commands of at most n actions (IN:, OUT: and a newline, which is a target only). */
function longestRows(commands: readonly Phrase[]): number[] {
  const longest: number[] = [];
  for (const { words, actions } of commands)
    longest[actions.length] = Math.max(longest[actions.length] ?? 0, words.length + actions.length + 2);
  for (let n = 0; n < longest.length; n++) longest[n] = Math.max(longest[n] ?? 0, longest[n - 1] ?? 0);
  return longest;
}

const actionNames = ['WALK', 'LOOK', 'RUN', 'JUMP', 'TURN_LEFT', 'TURN_RIGHT'].map((action) => ` I_${action}`);
const wordNames = 'walk look run jump turn left right opposite around twice thrice and after'
  .split(' ')
  .map((word) => ` ${word}`);

/** SCAN’s commands to actions, split by the length of the answer (Lake & Baroni 2018, https://arxiv.org/abs/1711.00350). */
export const scan = defineProblems({
  type: 'scan',
  description: 'commands to actions: IN: jump left OUT: I_TURN_LEFT I_JUMP',
  version: 1,
  config: z.strictObject({
    actions: z.int().min(1).max(48).default(25).describe('actions of the largest problem in training'),
    ...splitOptions,
  }),
  family({ actions: size }) {
    const tokenizer = pieceTokenizer(['IN:', ' OUT:', '\n', ...wordNames, ...actionNames]);
    const commands = scanCommands();
    const longest = longestRows(commands);
    const write = ({ words, actions }: Phrase) =>
      written(tokenizer, `IN: ${words.join(' ')} OUT:`, ` ${actions.join(' ')}\n`);
    const oneOf = (random: Random, list: readonly Phrase[]) => write(list[below(random, list.length)]!);
    const withActions = (low: number, high: number) =>
      commands.filter(({ actions }) => actions.length >= low && actions.length <= high);
    const training = withActions(1, size);
    const ranges = new Map<string, readonly Phrase[]>();
    return {
      tokenizer,
      answers: [...actionNames, '\n'],
      size,
      unit: 'actions',
      longest: (n) => longest[Math.min(n, longest.length - 1)]!,
      train: (random) => oneOf(random, training),
      between(random, low, high) {
        const range = `${low}-${high}`;
        const list = ranges.get(range) ?? withActions(low, high);
        ranges.set(range, list);
        if (list.length === 0)
          throw new PosencError(
            `scan: no command has ${low} to ${high} actions, the longest has 48: use smaller multiples or fewer "actions"`,
          );
        return oneOf(random, list);
      },
    };
  },
});
