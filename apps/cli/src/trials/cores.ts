/** How the threads that may compute are shared out among trials: trials × threads never exceed them. */

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
 * @param budget the cores, or fewer: `POSENC_THREADS`
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
