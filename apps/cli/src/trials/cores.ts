/** How many threads may compute, and how they are shared out among trials: trials × threads never exceed them. */
import { availableParallelism } from 'node:os';
import { askedThreads, defaultThreads } from '@posenc/backend';

/**
 * One thread per core, or fewer: `POSENC_THREADS`. More only where a run is taken up again that was begun with more, and
 * `POSENC_THREADS` says so: there is no other way to go on as before on a smaller machine.
 */
export function threadBudget(recorded: number | undefined): number {
  const asked = askedThreads();
  return asked === undefined ? defaultThreads() : Math.min(asked, Math.max(availableParallelism(), recorded ?? 1));
}

export interface Shares {
  /** Trials at a time. */
  readonly workers: number;
  /** Threads of each, on a backend that has some. */
  readonly threads: number;
}

/**
 * As many trials at a time as there are threads, one thread each: that gives the most trials an hour. Only where there are
 * fewer trials has each more than one. The number stays the same to the end of the run, for it is part of what a trial's
 * bits depend on.
 *
 * @param budget how many threads may compute
 * @param asked trials at a time, and threads of each, where the user or the run taken up again says; the budget bounds both
 */
export function shareCores(
  budget: number,
  trials: number,
  asked: { readonly workers: number | undefined; readonly threads: number | undefined },
): Shares {
  const fit = asked.threads === undefined ? budget : Math.max(1, Math.floor(budget / asked.threads));
  const workers = Math.min(asked.workers ?? fit, fit, trials);
  return { workers, threads: Math.min(asked.threads ?? budget, Math.floor(budget / workers)) };
}
