/** What a task is: a tokenizer, seeded training batches, evaluation batches by length, and controls. Plain data, no tensors. */
import type { Grid, Random, z } from '@posenc/core';
import type { Tokenizer } from './tokenizer.ts';

/** Rows of tokens and what should be predicted at each. All grids are [B, T]; `mask`, `segments` and `positions` may be [1, T]. */
export interface Batch {
  readonly tokens: Grid;
  /** The token that should be predicted at each place (the next one, for a language model); −1: this place is not scored. */
  readonly targets: Grid;
  /** 1 = real token, 0 = padding; absent: all real. */
  readonly mask?: Grid;
  /** Packing: tokens see only their own segment. */
  readonly segments?: Grid;
  /** Absent: 0, 1, … counted over real tokens. */
  readonly positions?: Grid;
}

/**
 * Evaluation at k times the training length L. What `length` = k·L and `scored` = L mean depends on what a row is:
 *
 * A *window* of one long text. Requests that differ in `length` alone score the same targets, with more context before them.
 * `scored = length`: every place of non-overlapping windows (loss by position). `scored < length`: sliding windows of stride
 * `scored`.
 *
 * A *problem* (`rowsAreProblems`) of the sizes that k = length / scored stands for: at k = 1 unseen problems drawn as in
 * training, at k > 1 sizes (k − 1)·N + 1 … k·N, where N is the largest size in training. So targets differ between lengths.
 */
export interface EvalRequest {
  /** Tokens per row, padding included. */
  readonly length: number;
  /** Windows: only the last `scored` places of a row have targets. Problems: the training length L. */
  readonly scored: number;
  /** The longest `length` of all requests to be compared. Windows: it decides where targets may lie. */
  readonly longest: number;
  /** At most this many rows; fewer when the data has no more (no target is scored twice). */
  readonly windows: number;
  readonly rowsPerBatch: number;
}

/** What a predictor without positions, or without a network, reaches. */
export interface Control {
  readonly name: string;
  /** Nats per scored token. */
  readonly loss: number;
  /** Share of scored tokens whose most likely prediction is right. */
  readonly accuracy: number;
  /** Tasks of problems: share of rows with every scored token right. */
  readonly exactMatch?: number;
}

/** Problems of `low` to `high` digits, items, …: what `unit` says, in the plural. */
export interface ProblemSizes {
  readonly low: number;
  readonly high: number;
  readonly unit: string;
}

/** What a model is trained and scored on: batches for training, windows for evaluation, all from seeds. */
export interface Task {
  readonly tokenizer: Tokenizer;
  /** SHA-256 (hex) over the data and all that defines the task: a part of a trial's identity. */
  readonly digest: string;
  /**
   * true: a row is one problem and its scored tokens are the answer. The share of rows with every scored token right is then
   * the exact match of greedy decoding: each argmax was right after the right ones before it, which is all that decoding does.
   */
  readonly rowsAreProblems?: boolean;
  /** Tasks of problems: the sizes that evaluation at k times the training length draws from, to name columns by. */
  problemSizes?(multiple: number): ProblemSizes;
  /**
   * Rows for one training step, at most `length` tokens each. All state is in `random`: an equal generator gives an equal batch.
   * @throws PosencError when the data is too short for `length`, or a problem too long
   */
  trainBatch(random: Random, rows: number, length: number): Batch;
  /**
   * Rows never seen in training, the same at every call.
   * @throws PosencError when the data is too short, a problem too long, or the request contradicts itself
   */
  evalBatches(request: EvalRequest): readonly Batch[];
  /** Scored on the targets of `batches`; absent: on the whole evaluation split. */
  controls(batches?: readonly Batch[]): readonly Control[];
}

/** What a task is given to find its files. */
export interface TaskContext {
  /** A path in a config → a path to open (relative ones belong to the file the config stands in). */
  resolve(path: string): string;
}

/** A task as a plug-in: one file each, known to the registry by `type`. */
export interface TaskPlugin<Type extends string = string, Config extends object = object> {
  /** The discriminant of the JSON config. */
  readonly type: Type;
  /** One line for `list`. */
  readonly description: string;
  /** Strict, without `type`; defaults filled in, unknown keys rejected. */
  readonly config: z.ZodType<Config>;
  create(config: Config, context: TaskContext): Task;
}

/** Checks a task's shape at compile time and keeps its literal `type` and config type. */
export function defineTask<const Type extends string, Config extends object>(
  plugin: TaskPlugin<Type, Config>,
): TaskPlugin<Type, Config> {
  return plugin;
}
