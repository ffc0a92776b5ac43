/** One layer's attention on every backend, forward and backward, as its length doubles and the number of tokens stays. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PosencError } from '@posenc/core';
import { ChildEnded } from './child.ts';
import { type Entry, usualReference } from './contenders.ts';
import { ask, label, labelOf, type Running, stepsFor, withContenders } from './contest.ts';
import type { AttentionBench, AttentionCell } from './document.ts';
import type { Measuring } from './machine.ts';
import type { TurnRequest } from './serve.ts';
import { ratios, summarize } from './stats.ts';

/** Of one layer. Batches hold `tokens` tokens: `tokens / length` sequences. */
export interface AttentionSizes {
  readonly numHeads: number;
  readonly headDim: number;
  readonly tokens: number;
}

/** Of the standard model, with the tokens of a standard step. */
export const standardAttention: AttentionSizes = { numHeads: 4, headDim: 32, tokens: 2048 };
export const attentionLengths = [128, 256, 512, 1024, 2048];

export interface AttentionOptions extends Measuring {
  readonly sizes: AttentionSizes;
  readonly lengths: readonly number[];
  readonly rounds: number;
  /** Who takes longer than this for one pass is cut off. */
  readonly limitSeconds: number;
}

/** Relative; of the gradients' mean square, whose float32 sums differ in order. */
const sameGradient = 1e-3;
/** A pass slower than this is measured in the first rounds only. */
const slowSeconds = 1;
const slowRounds = 2;

interface Attending extends Running {
  readonly cells: Map<number, Cell>;
}

type Cell =
  | {
      readonly status: 'measured';
      readonly value: number;
      readonly rounds: number[];
      stepSeconds: number;
      bytes?: number;
    }
  | Exclude<AttentionCell, { status: 'measured' }>;

/** @throws PosencError when two backends get other gradients */
export async function measureAttention(all: readonly Entry[], options: AttentionOptions): Promise<AttentionBench> {
  const { sizes, lengths } = options;
  return withContenders(options.signal, async (start) => {
    const attending: Attending[] = [];
    for (const entry of all) {
      options.onProgress(`attention: ${label(entry)} starts`);
      const one = await start(entry, JSON.stringify(sizes));
      if (!('status' in one)) attending.push({ ...one, cells: new Map() });
    }
    for (const length of lengths) await measureLength(attending, length, options);
    const last = lengths.at(-1)!;
    const reference = usualReference(attending) ?? attending.toSorted((a, b) => longest(b) - longest(a))[0];
    if (!reference) throw new PosencError('no backend computed attention');
    const timeOf = ({ cells }: Attending) => {
      const cell = cells.get(last)!;
      return cell.status === 'measured' ? summarize(cell.rounds).median : Number.POSITIVE_INFINITY;
    };
    return {
      sizes,
      limitSeconds: options.limitSeconds,
      reference: labelOf(reference),
      contenders: attending
        .toSorted((a, b) => timeOf(a) - timeOf(b) || longest(b) - longest(a))
        .map((one) => ({
          name: one.entry.contender.name,
          threads: one.ready.threads,
          version: one.ready.version,
          variant: one.ready.variant,
          cells: lengths.map((length) => cellOf(length, one.cells.get(length)!, reference.cells.get(length)!)),
        })),
    };
  });
}

/** The greatest length that was measured. */
const longest = ({ cells }: Attending): number =>
  Math.max(0, ...[...cells].flatMap(([length, { status }]) => (status === 'measured' ? [length] : [])));

async function measureLength(attending: readonly Attending[], length: number, options: AttentionOptions) {
  const taking: { one: Attending; cell: Extract<Cell, { status: 'measured' }> }[] = [];
  for (const one of attending) {
    options.onProgress(`attention: ${length} tokens, ${label(one.entry)}`);
    const cell = await firstPass(one, length, options);
    one.cells.set(length, cell);
    if (cell.status === 'measured') taking.push({ one, cell });
  }
  const [example] = taking;
  for (const { one, cell } of taking)
    if (!(Math.abs(cell.value / example!.cell.value - 1) <= sameGradient))
      throw new PosencError(
        `${label(one.entry)} computes other gradients of attention at ${length} tokens than ${label(example!.one.entry)}: mean square ${cell.value}, not ${example!.cell.value}`,
      );
  for (let round = 0; round < options.rounds; round++)
    for (const { one, cell } of taking) {
      if (cell.stepSeconds > slowSeconds && round >= slowRounds) continue;
      await options.watch.rest();
      options.onProgress(`attention: ${length} tokens, round ${round + 1} of ${options.rounds}, ${label(one.entry)}`);
      const steps = stepsFor(0.2, cell.stepSeconds, 20);
      const { seconds } = await passes(one, { steps, length });
      cell.rounds.push(summarize(seconds).median);
    }
}

/** Twice, the first of which compiles; or why not. Bytes where the backend knows them. */
async function firstPass(one: Attending, length: number, { limitSeconds, signal }: AttentionOptions): Promise<Cell> {
  const before = [...one.cells.values()].at(-1);
  // Longer ones take longer, and its process is gone.
  if (before && before.status === 'over') return { ...before, length };
  try {
    const warmed = await within(limitSeconds, signal, passes(one, { steps: 2, length }));
    if (!warmed) {
      await one.child.stop();
      return { length, status: 'over', seconds: limitSeconds };
    }
    const bytes = one.ready.countsBytes ? (await passes(one, { steps: 1, length, bytes: true })).values[0] : undefined;
    return { status: 'measured', value: warmed.values[1]!, rounds: [], stepSeconds: warmed.seconds[1]!, bytes };
  } catch (error) {
    if (!(error instanceof PosencError || error instanceof ChildEnded) || signal.aborted) throw error;
    return { length, status: 'failed', reason: error.message };
  }
}

async function passes(one: Attending, request: TurnRequest) {
  const answer = await ask(one, request);
  if ('failed' in answer) throw new PosencError(answer.failed);
  return answer;
}

/** undefined when it takes longer. */
async function within<T>(seconds: number, signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const stop = new AbortController();
  const late = sleep(1000 * seconds, undefined, { signal: AbortSignal.any([signal, stop.signal]) });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => {});
    stop.abort();
  }
}

function cellOf(length: number, cell: Cell, reference: Cell): AttentionCell {
  if (cell.status !== 'measured') return cell;
  const { rounds, bytes } = cell;
  return {
    length,
    status: 'measured',
    seconds: summarize(rounds),
    ratio: reference.status === 'measured' ? ratios(rounds, reference.rounds) : null,
    peakBytes: bytes ?? null,
  };
}
