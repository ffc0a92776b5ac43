/** Loss and accuracy by context length. */

import { crossEntropy, type Grid, type Params, permutation, range, stream, type Transformer } from '@posenc/core';
import type { Batch, Task } from '@posenc/tasks';
import type { Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { EvaluationConfig } from './config.ts';
import { placed } from './placed.ts';

/** How well a model predicts the scored tokens. */
export interface Score {
  /** Nats per scored token. */
  readonly loss: number;
  /** Share of scored tokens whose most likely prediction is right. */
  readonly accuracy: number;
  readonly tokens: number;
  /** Tasks of problems: share of rows with every scored token right, which is the exact match of greedy decoding. */
  readonly exactMatch?: number;
}

/**
 * The last L tokens of each window of k·L: the *same target tokens* for every k, with more context before them
 * ("fixed targets"). Tasks of problems: the answers to problems of the sizes that k stands for (`EvalRequest`). null when
 * the encoding is not defined that far.
 */
export async function evaluateAt(
  model: Transformer,
  params: Params,
  task: Task,
  length: number,
  multiple: number,
  config: EvaluationConfig,
): Promise<Score | null> {
  if (length * multiple > definedBelow(model, config)) return null;
  const tally = newTally(1);
  const batches = fixedTargets(task, length, multiple, config);
  for (const batch of placedAll(batches, config)) await score(model, params, batch, tally);
  return summary(tally, task);
}

/**
 * Loss at each position of non-overlapping windows of k·L tokens, every token scored; null past the encoding's end, and for
 * tasks of problems, which have no windows.
 */
export async function evaluatePositions(
  model: Transformer,
  params: Params,
  task: Task,
  length: number,
  multiple: number,
  config: EvaluationConfig,
): Promise<number[] | null> {
  const window = length * multiple;
  if (task.rowsAreProblems || window > definedBelow(model, config)) return null;
  const tally = newTally(window);
  for (const batch of placedAll(wholeWindows(task, window, config), config)) await score(model, params, batch, tally);
  return tally.losses.map((sum, t) => sum / tally.counts[t]!);
}

/** A control: the same targets at 1×, but the position numbers shuffled. How much does the model use positions? */
export async function evaluateShuffled(
  model: Transformer,
  params: Params,
  task: Task,
  length: number,
  config: EvaluationConfig,
  seed: number,
): Promise<Score | null> {
  if (length > model.encoding.traits.maxPosition) return null;
  const positions: Grid = {
    ...range(length),
    data: Int32Array.from(permutation(stream(seed, 'shuffled positions'), length)),
  };
  const tally = newTally(1);
  for (const batch of fixedTargets(task, length, 1, config)) await score(model, params, { ...batch, positions }, tally);
  return summary(tally, task);
}

/** The batches behind `evaluateAt`: what controls are scored on, too. */
export function fixedTargets(task: Task, length: number, multiple: number, config: EvaluationConfig): readonly Batch[] {
  const rowsPerBatch = Math.max(1, Math.floor(config.batchTokens / (length * multiple)));
  const longest = length * Math.max(...config.multiples);
  return task.evalBatches({
    length: length * multiple,
    scored: length,
    longest,
    windows: config.windows,
    rowsPerBatch,
  });
}

/** The batches behind `evaluatePositions`. */
function wholeWindows(task: Task, window: number, { windows, batchTokens }: EvaluationConfig): readonly Batch[] {
  const rowsPerBatch = Math.max(1, Math.floor(batchTokens / window));
  return task.evalBatches({ length: window, scored: window, longest: window, windows, rowsPerBatch });
}

/**
 * How many tokens `evaluateAt` reads for a model at all lengths, and `evaluatePositions` at the longest: a short text has fewer
 * windows than are asked for, and an encoding that ends reads no further.
 */
export function evaluationTokens(model: Transformer, task: Task, length: number, config: EvaluationConfig): number {
  const defined = config.multiples.filter((multiple) => length * multiple <= definedBelow(model, config));
  const windows = defined.flatMap((multiple) => fixedTargets(task, length, multiple, config));
  const whole =
    defined.length && !task.rowsAreProblems ? wholeWindows(task, length * Math.max(...defined), config) : [];
  return [...windows, ...whole].reduce((sum, { tokens }) => sum + tokens.rows * tokens.cols, 0);
}

/** Sequences longer than this have no place to stand. */
const definedBelow = ({ encoding }: Transformer, { randomizedPositions }: EvaluationConfig): number =>
  Math.min(encoding.traits.maxPosition, randomizedPositions ?? Number.POSITIVE_INFINITY);

/** With drawn positions: one draw for a length, whatever the model and the size of batches. */
const placedAll = (batches: readonly Batch[], config: EvaluationConfig): readonly Batch[] =>
  batches.map((batch) => placed(batch, config, stream(0, 'evaluation positions')));

/** Sums by position within the window (or all in one slot). */
interface Tally {
  readonly losses: number[];
  readonly counts: number[];
  correct: number;
  rows: number;
  /** Rows with every scored token right. */
  exact: number;
}

const newTally = (slots: number): Tally => ({
  losses: new Array<number>(slots).fill(0),
  counts: new Array<number>(slots).fill(0),
  correct: 0,
  rows: 0,
  exact: 0,
});

async function score(model: Transformer, params: Params, batch: Batch, tally: Tally): Promise<void> {
  const { targets } = batch;
  const [losses, guesses] = tf.tidy(() => {
    const logits = model.forward(params, batch).logits.reshape([-1, model.config.vocabSize]) as Tensor2D;
    return [crossEntropy(logits, targets.data), tf.argMax(logits, 1)] as const;
  });
  const [lossData, guessData] = await Promise.all([losses.data(), guesses.data()]);
  tf.dispose([losses, guesses]);
  const wrong = new Set<number>();
  targets.data.forEach((target, i) => {
    if (target < 0) return;
    const slot = (i % targets.cols) % tally.losses.length;
    tally.losses[slot]! += lossData[i]!;
    tally.counts[slot]! += 1;
    if (guessData[i] === target) tally.correct += 1;
    else wrong.add(Math.floor(i / targets.cols));
  });
  tally.rows += targets.rows;
  tally.exact += targets.rows - wrong.size;
}

function summary(tally: Tally, task: Task): Score {
  const [loss, tokens] = [tally.losses[0]!, tally.counts[0]!];
  const exactMatch = task.rowsAreProblems ? { exactMatch: tally.exact / tally.rows } : {};
  return { loss: loss / tokens, accuracy: tally.correct / tokens, tokens, ...exactMatch };
}
