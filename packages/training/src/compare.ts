/** Runs a suite's trials, a few at a time, in a run folder that can be taken up again. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder, writeJsonAtomic } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import type { Executor } from './executor.ts';
import { lockFolder } from './lock.ts';
import { type Comparison, summarize } from './results.ts';
import { type Runtime, recordedRuntimes, refuseDrift } from './runtime.ts';
import { type Environment, type TrialSpec, trialId } from './spec.ts';
import type { Suite } from './suite.ts';
import { readResult, type TrialProgress, type TrialResult } from './trial.ts';

/** A trial with its name, its place, and what an earlier run left of it. */
export interface PlannedTrial {
  readonly id: string;
  readonly folder: string;
  readonly spec: TrialSpec;
  /** Finished by an earlier run: it is not run again. */
  readonly result: TrialResult | undefined;
  /** What computed what there is of it. */
  readonly runtimes: readonly Runtime[];
}

/** What a run of a suite consists of. */
export interface Plan {
  readonly trials: readonly PlannedTrial[];
  /** Trial folders of other specs, data or versions: shown, never used. */
  readonly stale: readonly string[];
}

/** What a comparison tells while it runs, trial by trial. */
export type CompareEvent =
  | { readonly kind: 'start' | 'stop'; readonly trial: PlannedTrial }
  | { readonly kind: 'progress'; readonly trial: PlannedTrial; readonly progress: TrialProgress }
  | { readonly kind: 'notice'; readonly trial: PlannedTrial; readonly message: string }
  | { readonly kind: 'finish'; readonly trial: PlannedTrial; readonly result: TrialResult };

const slug = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'trial';

/** What a run of these trials in this folder would do. Touches nothing. */
export function planRun(folder: string, specs: readonly TrialSpec[], task: Task, environment: Environment): Plan {
  const trialsFolder = join(folder, 'trials');
  const trials = specs.map((spec): PlannedTrial => {
    const id = trialId(spec, task, environment);
    return planTrial(join(trialsFolder, `${slug(spec.name)}-seed${spec.seed}-${id}`), id, spec);
  });
  const ours = new Set(trials.map((trial) => trial.folder));
  const present = existsSync(trialsFolder) ? readdirSync(trialsFolder).map((name) => join(trialsFolder, name)) : [];
  return { trials, stale: present.filter((path) => !ours.has(path)) };
}

/** A trial, and what its folder holds of it. */
export const planTrial = (folder: string, id: string, spec: TrialSpec): PlannedTrial => ({
  id,
  folder,
  spec,
  result: readResult(folder, id),
  runtimes: recordedRuntimes(folder, id),
});

/** Who runs the trials, how many at a time, and who listens. */
export interface CompareOptions {
  readonly task: Task;
  readonly executor: Executor;
  /** Trials at a time. */
  readonly workers: number;
  /** Goes on with what another backend, processor or number of threads began: the numbers are then of both. */
  readonly allowDrift?: boolean;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CompareEvent) => void;
  /** More for results.json: commit, command. */
  readonly provenance?: Readonly<Record<string, unknown>>;
}

/**
 * Runs what the plan leaves to do and writes results.json. Returns undefined when `signal` stopped it. One trial's failure
 * lets the running ones end, starts no more, and is thrown.
 *
 * @throws PosencError before anything is touched when another runtime began it, unless `allowDrift`
 */
export async function runPlan(
  folder: string,
  suite: Suite,
  plan: Plan,
  environment: Environment,
  options: CompareOptions,
): Promise<Comparison | undefined> {
  if (!options.allowDrift)
    refuseDrift(
      folder,
      plan.trials.flatMap(({ runtimes }) => runtimes),
      environment.runtime,
    );
  ensureFolder(folder);
  const unlock = lockFolder(folder);
  try {
    const { trials } = plan;
    writeJsonAtomic(join(folder, 'resolved.json'), {
      suite,
      runtime: environment.runtime,
      versions: environment.versions,
      trials: trials.map(({ id, spec }) => ({ id, ...spec })),
    });
    const results = new Map(trials.flatMap((trial) => (trial.result ? [[trial.id, trial.result] as const] : [])));
    await runAll(
      trials.filter((trial) => !trial.result),
      results,
      options,
    );
    if (results.size < trials.length) return undefined;
    const comparison = summarize(
      suite,
      trials.map((trial) => results.get(trial.id)!),
      options.task,
      environment,
      options.provenance ?? {},
    );
    writeJsonAtomic(join(folder, 'results.json'), comparison);
    return comparison;
  } finally {
    unlock();
  }
}

async function runAll(
  pending: readonly PlannedTrial[],
  results: Map<string, TrialResult>,
  options: CompareOptions,
): Promise<void> {
  const { executor, signal, onEvent } = options;
  const queue = [...pending];
  let failure: unknown;
  const worker = async () => {
    while (queue.length && !failure && !signal?.aborted) {
      const trial = queue.shift()!;
      onEvent?.({ kind: 'start', trial });
      try {
        const result = await executor(trial, {
          signal,
          allowDrift: options.allowDrift,
          onProgress: (progress) => onEvent?.({ kind: 'progress', trial, progress }),
          onNotice: (message) => onEvent?.({ kind: 'notice', trial, message }),
        });
        if (result) results.set(trial.id, result);
        onEvent?.(result ? { kind: 'finish', trial, result } : { kind: 'stop', trial });
      } catch (error) {
        failure ??= named(error, trial);
        onEvent?.({ kind: 'stop', trial });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(options.workers, pending.length)) }, worker));
  if (failure) throw failure;
}

function named(error: unknown, { spec }: PlannedTrial): unknown {
  return error instanceof PosencError
    ? new PosencError(`trial "${spec.name}" (seed ${spec.seed}): ${error.message}`)
    : error;
}
