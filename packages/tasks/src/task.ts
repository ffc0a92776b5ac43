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
 * Evaluation at one length. Requests that differ in `length` alone score the *same targets*, with more context before them.
 * `scored = length`: every place of non-overlapping windows (loss by position). `scored < length`: sliding windows of stride
 * `scored`.
 */
export interface EvalRequest {
  /** Tokens per row. */
  readonly length: number;
  /** Only the last `scored` places of a row have targets. */
  readonly scored: number;
  /** The longest `length` of all requests to be compared: it decides where targets may lie. */
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
}

export interface Task {
  readonly tokenizer: Tokenizer;
  /** SHA-256 (hex) over the data and all that defines the task: a part of a trial's identity. */
  readonly digest: string;
  /**
   * Rows for one training step, at most `length` tokens each. All state is in `random`: an equal generator gives an equal batch.
   * @throws PosencError when the data is too short for `length`
   */
  trainBatch(random: Random, rows: number, length: number): Batch;
  /**
   * Rows never seen in training, the same at every call.
   * @throws PosencError when the data is too short, or the request contradicts itself
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
