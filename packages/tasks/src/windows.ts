/** Windows of one long token sequence: drawn for training, laid out evenly for evaluation. */
import { below, type Grid, PosencError, type Random } from '@posenc/core';
import type { Batch, EvalRequest } from './task.ts';

/**
 * Rows of `length` tokens from uniformly drawn places; the target at each place is the next token.
 * @throws PosencError when the sequence has not length + 1 tokens
 */
export function drawWindows(ids: Int32Array, random: Random, rows: number, length: number, what: string): Batch {
  positive({ rows, length });
  if (ids.length < length + 1)
    throw new PosencError(
      `${what} has ${ids.length} tokens, and training on ${length} at a time needs at least ${length + 1}: use a longer text or a shorter "length"`,
    );
  return cut(
    ids,
    Array.from({ length: rows }, () => below(random, ids.length - length)),
    length,
    length,
  );
}

/**
 * Rows whose last `scored` targets are spans of the sequence spread evenly, without overlap; the context before a span grows
 * with `length`, the span does not depend on it. The first span starts where the longest row just has room.
 * @throws PosencError when not one row fits, or scored ≤ length ≤ longest does not hold
 */
export function evaluationWindows(ids: Int32Array, request: EvalRequest, what: string): Batch[] {
  const { length, scored, longest, windows, rowsPerBatch } = request;
  checkRequest(request);
  if (ids.length < longest + 1)
    throw new PosencError(
      `${what} has ${ids.length} tokens, and evaluating ${longest} at a time needs at least ${longest + 1}: use a longer text, a smaller "split", or shorter evaluation lengths`,
    );
  // A target needs a token before it: with a row of `longest` tokens the first span starts here.
  const first = longest - scored + 1;
  const room = ids.length - first;
  const count = Math.min(windows, Math.floor(room / scored));
  const spans = Array.from({ length: count }, (_, i) => first + Math.floor((i * room) / count));
  const starts = spans.map((span) => span + scored - 1 - length);
  return Array.from({ length: Math.ceil(count / rowsPerBatch) }, (_, b) =>
    cut(ids, starts.slice(b * rowsPerBatch, (b + 1) * rowsPerBatch), length, scored),
  );
}

/** One row that scores every token of the sequence but the first. */
export const wholeSequence = (ids: Int32Array): Batch => cut(ids, [0], ids.length - 1, ids.length - 1);

function cut(ids: Int32Array, starts: readonly number[], length: number, scored: number): Batch {
  const grid = (): Grid => ({ rows: starts.length, cols: length, data: new Int32Array(starts.length * length) });
  const [tokens, targets] = [grid(), grid()];
  targets.data.fill(-1);
  starts.forEach((start, b) => {
    tokens.data.set(ids.subarray(start, start + length), b * length);
    targets.data.set(ids.subarray(start + 1 + length - scored, start + 1 + length), (b + 1) * length - scored);
  });
  return { tokens, targets };
}

/** Throws PosencError when a request contradicts itself. */
export function checkRequest({ length, scored, longest, windows, rowsPerBatch }: EvalRequest): void {
  positive({ length, scored, longest, windows, rowsPerBatch });
  if (scored > length || length > longest)
    throw new PosencError(`evaluation needs scored ≤ length ≤ longest, and these are ${scored}, ${length}, ${longest}`);
}

/** Throws PosencError naming the first value that is no integer of at least 1. */
export function positive(values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new PosencError(`${name} is ${value}: an integer of at least 1 is needed`);
}
