/**
 * A trial: one encoding × task × seed × sizes, trained once and evaluated at many lengths, under evaluation-time overrides
 * too. JSON in, JSON out; named by the hash of what defines it; resumable; knows nothing of where it runs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ensureFolder, type Latest, latestCheckpoint, saveCheckpoint, writeJsonAtomic } from '@posenc/checkpoints';
import { countParams, type EncodingConfig, PosencError } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import type { Score } from './evaluate.ts';
import { lockFolder } from './lock.ts';
import { appendMetrics, type Timing, timing, truncateMetrics } from './metrics.ts';
import { type Runtime, recordedRuntimes, refuseDrift, unrecorded, withRuntime } from './runtime.ts';
import { type Environment, type TrialSpec, trialId, trialModel } from './spec.ts';
import { restoreSession, type Session, sessionTensors, startSession, trainStep } from './train.ts';
import { type Evaluation, evaluateTrial } from './trial-evaluation.ts';

/** What a trial came to: its result.json. */
export interface TrialResult {
  readonly id: string;
  readonly name: string;
  readonly seed: number;
  readonly encoding: EncodingConfig;
  readonly status: 'finished' | 'diverged';
  /** What computed it; more than one only where that was asked for. */
  readonly runtimes: readonly Runtime[];
  readonly steps: number;
  readonly tokens: number;
  readonly parameters: { readonly total: number; readonly encoding: number };
  readonly evaluations: readonly Evaluation[];
  /** The encoding as trained, at 1×, with shuffled position numbers. */
  readonly shuffled: Score | null;
  /** Never part of a comparison of results: it depends on the machine and its load. */
  readonly timing: Timing;
}

/** How far a trial is. */
export interface TrialProgress {
  readonly phase: 'train' | 'evaluate';
  readonly done: number;
  readonly total: number;
  readonly loss?: number;
  readonly tokensPerSecond?: number;
}

/** Who listens to a trial, who may stop it, how often it saves. */
export interface RunOptions {
  readonly onProgress?: (progress: TrialProgress) => void;
  readonly onNotice?: (message: string) => void;
  /** Stops between two steps, with a checkpoint. */
  readonly signal?: AbortSignal;
  /** Longest time between two checkpoints. */
  readonly checkpointSeconds?: number;
  /** The id the trial was planned under. Throws PosencError when it has another one by now: its data was changed meanwhile. */
  readonly plannedId?: string;
  /** Goes on with what another backend, processor or number of threads began. Without it that throws PosencError. */
  readonly allowDrift?: boolean;
}

/** The finished result in a trial's folder, if it is that trial's. */
export function readResult(folder: string, id: string): TrialResult | undefined {
  const path = join(folder, 'result.json');
  if (!existsSync(path)) return undefined;
  try {
    const result = { runtimes: [unrecorded], ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<TrialResult>) };
    if (result.id !== id) return undefined;
    if (isWhole(result)) return result;
  } catch {
    throw new PosencError(`"${path}" is not JSON: it was damaged. Delete it, and the trial is evaluated again`);
  }
  throw new PosencError(
    `"${path}" lacks a part of the result: it was damaged. Delete it, and the trial is evaluated again`,
  );
}

const isWhole = (result: Partial<TrialResult>): result is TrialResult => {
  const { status, evaluations, runtimes, parameters, timing } = result;
  return (
    (status === 'finished' || status === 'diverged') &&
    Array.isArray(evaluations) &&
    Array.isArray(runtimes) &&
    [parameters?.total, parameters?.encoding, timing?.medianStepSeconds].every((value) => typeof value === 'number')
  );
};

/**
 * Runs a trial in its folder, or goes on where an earlier run stopped, or returns what it found finished. Stopped by
 * `signal` it returns undefined, resumable. The numbers do not depend on how often it was interrupted.
 */
export async function runTrial(
  spec: TrialSpec,
  folder: string,
  environment: Environment,
  options: RunOptions = {},
): Promise<TrialResult | undefined> {
  const task = environment.tasks.create(spec.task);
  const id = trialId(spec, task, environment);
  if (options.plannedId !== undefined && id !== options.plannedId)
    throw new PosencError(
      `its data, a plug-in or a package was changed since this run began: leave them as they are until it ends, and start again`,
    );
  const finished = readResult(folder, id);
  const past = recordedRuntimes(folder, id);
  if (!options.allowDrift) refuseDrift(folder, past, environment.runtime);
  if (finished) return finished;
  ensureFolder(folder);
  const unlock = lockFolder(folder);
  try {
    const saved = newestCheckpoint(folder, id);
    const runtimes = withRuntime(saved ? past : [], environment.runtime);
    writeJsonAtomic(join(folder, 'trial.json'), { id, runtimes, ...spec });
    const model = trialModel(spec, task, environment);
    const session = startSession(model, spec.training, spec.seed);
    try {
      const status = await trainTo(session, saved, id, spec, task, folder, options);
      if (status === 'stopped') return undefined;
      const evaluated = await evaluateTrial(session, status, spec, task, environment, options);
      if (!evaluated) return undefined;
      const result: TrialResult = {
        id,
        name: spec.name,
        seed: spec.seed,
        encoding: spec.encoding,
        status,
        runtimes,
        steps: session.step,
        tokens: session.step * spec.training.batchSize * spec.training.length,
        parameters: { total: countParams(model.params), encoding: countParams(model.encoding.params) },
        ...evaluated,
        timing: timing(folder, spec.training),
      };
      writeJsonAtomic(join(folder, 'result.json'), result);
      return result;
    } finally {
      session.dispose();
    }
  } finally {
    unlock();
  }
}

const checkpointFolder = (folder: string) => join(folder, 'checkpoints');

/** Weights of another trial fit this one's shapes and would pass for its own: a checkpoint says whose it is. */
interface CheckpointState {
  readonly trial?: string;
  /** Absent while training goes on. */
  readonly status?: 'finished' | 'diverged';
}

/** The newest whole checkpoint of trial `id` in its folder, undefined before the first. Throws PosencError when it is another's. */
export function newestCheckpoint(
  folder: string,
  id: string,
): (Latest & { readonly state: CheckpointState }) | undefined {
  const latest = latestCheckpoint(checkpointFolder(folder));
  if (!latest) return undefined;
  const state = (latest.checkpoint.state ?? {}) as CheckpointState;
  if (state.trial !== id)
    throw new PosencError(
      `the checkpoints in "${checkpointFolder(folder)}" belong to another trial (${state.trial ?? 'unnamed'}, not ${id}): put its own back, or delete the folder to train from the start`,
    );
  return { ...latest, state };
}

async function trainTo(
  session: Session,
  saved: ReturnType<typeof newestCheckpoint>,
  id: string,
  spec: TrialSpec,
  task: Task,
  folder: string,
  options: RunOptions,
): Promise<'finished' | 'diverged' | 'stopped'> {
  const { training, seed } = spec;
  for (const message of saved?.skipped ?? []) options.onNotice?.(message);
  if (saved) restoreSession(session, saved.checkpoint.step, saved.checkpoint.tensors);
  let status = saved?.state.status;
  if (status) return status;
  truncateMetrics(folder, session.step);

  const save = async () =>
    saveCheckpoint(checkpointFolder(folder), session.step, await sessionTensors(session), {
      trial: id,
      ...(status && { status }),
    });
  const patience = 1000 * (options.checkpointSeconds ?? 10);
  let lastSave = performance.now();
  while (!status) {
    const metrics = await trainStep(session, task, training, seed);
    appendMetrics(folder, metrics);
    if (!Number.isFinite(metrics.loss)) status = 'diverged';
    else if (session.step >= training.steps) status = 'finished';
    options.onProgress?.({
      phase: 'train',
      done: session.step,
      total: training.steps,
      loss: metrics.loss,
      tokensPerSecond: (training.batchSize * training.length) / metrics.seconds,
    });
    await nextTurn(); // lets messages and signals in
    const stop = options.signal?.aborted === true;
    if (status || stop || performance.now() - lastSave > patience) {
      await save();
      lastSave = performance.now();
    }
    if (stop && !status) return 'stopped';
  }
  return status;
}
