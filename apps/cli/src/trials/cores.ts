/** How the cores of this machine are shared out: trials × threads ≤ cores. */

export interface Shares {
  /** Trials at a time. */
  readonly workers: number;
  /** Threads of each, on a backend that has some. */
  readonly threads: number;
}

/**
 * @param asked trials at a time and threads of each, where the user says; `trials` bounds the first
 */
export function shareCores(
  cores: number,
  trials: number,
  asked: { readonly workers: number | undefined; readonly threads: number | undefined },
): Shares {
  const workers = asked.workers ?? Math.max(1, Math.floor(cores / (asked.threads ?? 1)));
  const most = Math.max(1, Math.floor(cores / Math.min(workers, trials)));
  return { workers, threads: Math.min(asked.threads ?? most, most) };
}
