import { availableParallelism } from 'node:os';
import { PosencError } from '@posenc/core';

/** `POSENC_THREADS` when it is set, else one per core. Throws PosencError when it is no number of threads. */
export function defaultThreads(): number {
  const asked = process.env.POSENC_THREADS;
  if (!asked) return availableParallelism();
  if (!/^[1-9]\d*$/.test(asked)) throw new PosencError(`POSENC_THREADS must be a whole number from 1, not "${asked}"`);
  return Number(asked);
}
