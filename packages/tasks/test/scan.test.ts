import { stream } from '@posenc/core';
import { describe, expect, test } from 'vitest';
import { scanCommands } from '../src/index.ts';
import { create, interpret, linesOf } from './lines.ts';

describe('SCAN', () => {
  // From the README of github.com/brendenlake/SCAN (with I_ as in its files) and from huggingface.co/datasets/scan.
  test.each([
    ['jump', 'I_JUMP'],
    ['jump left', 'I_TURN_LEFT I_JUMP'],
    ['turn left twice', 'I_TURN_LEFT I_TURN_LEFT'],
    ['jump thrice', 'I_JUMP I_JUMP I_JUMP'],
    ['jump around right', 'I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP'],
    ['jump opposite left and walk thrice', 'I_TURN_LEFT I_TURN_LEFT I_JUMP I_WALK I_WALK I_WALK'],
    [
      'jump opposite left after walk around left',
      'I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_TURN_LEFT I_JUMP',
    ],
    [
      'run opposite left twice and turn opposite left',
      'I_TURN_LEFT I_TURN_LEFT I_RUN I_TURN_LEFT I_TURN_LEFT I_RUN I_TURN_LEFT I_TURN_LEFT',
    ],
    [
      'look opposite right thrice and walk left',
      'I_TURN_RIGHT I_TURN_RIGHT I_LOOK I_TURN_RIGHT I_TURN_RIGHT I_LOOK I_TURN_RIGHT I_TURN_RIGHT I_LOOK I_TURN_LEFT I_WALK',
    ],
  ])('%s', (command, actions) => {
    expect(interpret(command).join(' ')).toBe(actions);
    const task = create({ type: 'scan' });
    const line = `IN: ${command} OUT: ${actions}\n`;
    expect(task.tokenizer.encode(line)).toHaveLength(command.split(' ').length + actions.split(' ').length + 3);
    expect(task.tokenizer.decode(task.tokenizer.encode(line))).toBe(line);
  });

  test('the grammar has 20,910 commands; the length split is 16,990 of at most 22 actions and 3,920 of 24 to 48', () => {
    const commands = scanCommands();
    const distinct = new Set(commands.map(({ words }) => words.join(' ')));
    expect([commands.length, distinct.size]).toEqual([20_910, 20_910]);
    for (const { words, actions } of commands)
      if (interpret(words.join(' ')).join() !== actions.join()) throw new Error(`${words} does not mean ${actions}`);
    const lengths = commands.map(({ actions }) => actions.length);
    expect(lengths.filter((n) => n <= 22)).toHaveLength(16_990);
    expect(lengths.filter((n) => n >= 24)).toHaveLength(3920);
    expect(lengths.reduce((a, b) => Math.max(a, b))).toBe(48);
  });

  test('training has every length up to the largest, evaluation at twice that all longer ones', () => {
    const task = create({ type: 'scan' });
    const sizes = (batches: Parameters<typeof linesOf>[1]) =>
      new Set(linesOf(task, batches).map(({ answer }) => answer.split('I_').length - 1));
    const trained = sizes([task.trainBatch(stream(1, 'x'), 3000, 64)]);
    const beyond = sizes(
      task.evalBatches({ scored: 64, length: 128, longest: 128, windows: 1500, rowsPerBatch: 1500 }),
    );
    const all = new Set(scanCommands().map(({ actions }) => actions.length));
    expect(trained).toEqual(new Set([...all].filter((n) => n <= 25)));
    expect(beyond).toEqual(new Set([...all].filter((n) => n > 25)));
  });

  test('no command has more than 48 actions', () => {
    const task = create({ type: 'scan' });
    const request = { scored: 64, length: 192, longest: 192, windows: 10, rowsPerBatch: 10 };
    expect(() => task.evalBatches(request)).toThrow('scan: no command has 51 to 75 actions, the longest has 48');
  });
});
