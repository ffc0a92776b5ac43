/** How many threads may compute: what the user asks for, checked, or one per core. */
import { availableParallelism } from 'node:os';
import { brief, PosencError } from '@posenc/core';

/** The most that may be asked for; thousands end in a crash of the engine. */
export const maxThreads = 256;

/** Throws PosencError when `threads` is no number of threads; `what` names it. */
export function checkThreads(threads: number, what = 'threads', said = String(threads)): void {
  if (!Number.isInteger(threads) || threads < 1 || threads > maxThreads)
    throw new PosencError(`${what} must be a whole number from 1 to ${maxThreads}, not ${said}`);
}

/** `POSENC_THREADS`; undefined when it is not set. Throws PosencError when it is no number of threads, or above 256. */
export function askedThreads(): number | undefined {
  const asked = process.env.POSENC_THREADS;
  if (!asked) return undefined;
  const threads = /^\d+$/.test(asked) ? Number(asked) : Number.NaN;
  checkThreads(threads, 'POSENC_THREADS', `"${brief(asked)}"`);
  return threads;
}

/** `POSENC_THREADS` when it is set, else one per core, at most 256. Throws PosencError when it is no number of threads. */
export const defaultThreads = (): number => askedThreads() ?? Math.min(maxThreads, availableParallelism());
