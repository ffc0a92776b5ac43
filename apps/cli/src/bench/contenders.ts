/** Who is measured beside whom: each in a process of its own, with the number of threads it is told. */
import { availableParallelism } from 'node:os';
import { type BackendName, type BackendReport, probeBackends } from '@posenc/backend';
import { PosencError } from '@posenc/core';
import { type Command, nodeModule } from './child.ts';

/** Whoever computes a problem: one of our backends, or a rival in a process of its own. */
export interface Contender {
  readonly name: string;
  /** ours: posenc on one of its backends · rival: something else. */
  readonly kind: 'ours' | 'rival';
  /** A rival that must be there: its absence fails the benchmark, and this says how to get it. */
  readonly getIt?: string;
  /** Computes with as many threads as it is told; false: with one. */
  readonly threaded: boolean;
  /** The program. `problem`: the folder of a standard step; the number of rows and columns of a matrix product. */
  start(problem: string, threads: number): Command;
}

/** Threads that libraries read from the environment. */
export const threadsEnvironment = (threads: number): Record<string, string> =>
  Object.fromEntries(
    ['POSENC_THREADS', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'TF_NUM_INTRAOP_THREADS', 'TF_NUM_INTEROP_THREADS'].map(
      (name) => [name, String(threads)],
    ),
  );

/**
 * The backends to measure: the one asked for, or with `auto` all that are present. `webgpu` must be asked for: it may be a
 * processor that plays a graphics card, which takes minutes.
 * @throws PosencError when the one asked for is absent
 */
export async function presentBackends(asked: BackendName): Promise<BackendReport[]> {
  const reports = await probeBackends();
  if (asked === 'auto') return reports.filter(({ name, available }) => available && name !== 'webgpu');
  const report = reports.find(({ name }) => name === asked)!;
  if (!report.available) throw new PosencError(`${asked} is not here: ${report.reason}`);
  return [report];
}

/** Backends as contenders. `program`: a module of this folder that takes a problem and the name of a backend. */
export const backendContenders = (reports: readonly BackendReport[], program: string): Contender[] =>
  reports
    .filter((report) => report.available)
    .map(({ name, threads }) => ({
      name,
      kind: 'ours',
      // A graphics card does not say.
      threaded: threads > 1,
      start: (problem, count) =>
        nodeModule(new URL(`./${program}.ts`, import.meta.url), [problem, name], threadsEnvironment(count)),
    }));

/** With one thread, and those that can with all: never a rival with more threads than ours had the chance of. */
export function entries(contenders: readonly Contender[], most = availableParallelism()) {
  return contenders.flatMap((contender) =>
    (contender.threaded && most > 1 ? [most, 1] : [1]).map((threads) => ({ contender, threads })),
  );
}

export type Entry = ReturnType<typeof entries>[number];

/** What runs everywhere without installing anything is the measure of all others; `undefined` where it is not measured. */
export const usualReference = <T extends { readonly entry: Entry }>(all: readonly T[]): T | undefined =>
  all
    .filter(({ entry }) => entry.contender.kind === 'ours' && entry.contender.name === 'simd')
    .reduce<T | undefined>((most, one) => (one.entry.threads > (most?.entry.threads ?? 0) ? one : most), undefined);
