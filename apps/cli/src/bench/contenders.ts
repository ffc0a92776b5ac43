/** Who takes the standard step: each in a process of its own, with the number of threads it is told. */
import { availableParallelism } from 'node:os';
import type { BackendReport } from '@posenc/backend';
import { type Command, nodeModule } from './child.ts';

/** Whoever takes the standard step: one of our backends, or a rival in a process of its own. */
export interface Contender {
  readonly name: string;
  /** ours: posenc on one of its backends · rival: something else. */
  readonly kind: 'ours' | 'rival';
  /** A rival that must be there: its absence fails the benchmark, and this says how to get it. */
  readonly getIt?: string;
  /** Computes with as many threads as it is told; false: with one. */
  readonly threaded: boolean;
  /** The program, for a folder that holds the problem. */
  start(folder: string, threads: number): Command;
}

/** Threads that libraries read from the environment. */
export const threadsEnvironment = (threads: number): Record<string, string> =>
  Object.fromEntries(
    ['POSENC_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'TF_NUM_INTRAOP_THREADS', 'TF_NUM_INTEROP_THREADS'].map(
      (name) => [name, String(threads)],
    ),
  );

/** Every backend that is present. */
export const backendContenders = (reports: readonly BackendReport[]): Contender[] =>
  reports
    .filter((report) => report.available)
    .map(({ name, threads }) => ({
      name,
      kind: 'ours',
      // A graphics card does not say.
      threaded: threads > 1,
      start: (folder, count) =>
        nodeModule(new URL('./step-child.ts', import.meta.url), [folder, name], threadsEnvironment(count)),
    }));

/** With one thread, and those that can with all: never a rival with more threads than ours had the chance of. */
export function entries(contenders: readonly Contender[], most = availableParallelism()) {
  return contenders.flatMap((contender) =>
    (contender.threaded && most > 1 ? [most, 1] : [1]).map((threads) => ({ contender, threads })),
  );
}

export type Entry = ReturnType<typeof entries>[number];
