/**
 * A trial: one encoding × task × seed × sizes, trained once and evaluated at many lengths, under evaluation-time overrides
 * too. JSON in, JSON out; named by the hash of what defines it; resumable; knows nothing of where it runs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  appendJsonLine,
  ensureFolder,
  type Latest,
  latestCheckpoint,
  readJsonLines,
  saveCheckpoint,
  writeFileAtomic,
  writeJsonAtomic,
} from '@posenc/checkpoints';
import { countParams, type EncodingConfig, PosencError } from '@posenc/core';
import type { Task } from '@posenc/tasks';
import type { TrainingConfig } from './config.ts';
import { evaluateAt, evaluatePositions, evaluateShuffled, type Score } from './evaluate.ts';
import { lockFolder } from './lock.ts';
import { type Runtime, recordedRuntimes, refuseDrift, unrecorded, withRuntime } from './runtime.ts';
import { type Environment, overridden, type TrialSpec, trialId, trialModel } from './spec.ts';
import { restoreSession, type Session, sessionTensors, startSession, trainStep } from './train.ts';

/** Scores of the trained weights at every length, as trained or under another config. */
export interface Evaluation {
  readonly name: string;
  /** null for the encoding as trained. */
  readonly override: object | null;
  readonly lengths: readonly { readonly multiple: number; readonly length: number; readonly score: Score | null }[];
  /** Loss by position in non-overlapping windows of the longest length at which the encoding is defined. */
  readonly positions: readonly number[] | null;
}

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
  readonly timing: {
    readonly trainSeconds: number;
    readonly medianStepSeconds: number;
    readonly tokensPerSecond: number;
  };
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

const metricsPath = (folder: string) => join(folder, 'metrics.jsonl');
const checkpointFolder = (folder: string) => join(folder, 'checkpoints');

type Metric = { readonly step: number; readonly loss: number | null; readonly seconds: number };

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
    appendJsonLine(metricsPath(folder), metrics);
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

function readMetrics(path: string): Metric[] {
  return readJsonLines(path).map((value, i) => {
    const { step, seconds } = (value ?? {}) as Partial<Metric>;
    if (typeof step === 'number' && typeof seconds === 'number') return value as Metric;
    throw new PosencError(`"${path}" line ${i + 1} is not the metrics of a step: it was damaged; remove that line`);
  });
}

/** Lines past the checkpoint are of steps that will be done again. */
function truncateMetrics(folder: string, step: number): void {
  const path = metricsPath(folder);
  if (!existsSync(path)) return;
  const kept = readMetrics(path).filter((line) => line.step <= step);
  writeFileAtomic(path, kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

async function evaluateTrial(
  session: Session,
  status: 'finished' | 'diverged',
  spec: TrialSpec,
  task: Task,
  environment: Environment,
  options: RunOptions,
): Promise<{ evaluations: Evaluation[]; shuffled: Score | null } | undefined> {
  if (status === 'diverged') return { evaluations: [], shuffled: null };
  const { training, evaluation } = spec;
  const variants = [
    { name: spec.name, override: null as object | null },
    ...spec.overrides.map((o) => ({ name: o.name, override: o.encoding as object | null })),
  ];
  const total = variants.length * (evaluation.multiples.length + 1);
  const evaluations: Evaluation[] = [];
  let done = 0;
  const tick = async () => {
    options.onProgress?.({ phase: 'evaluate', done: ++done, total });
    await nextTurn();
    return options.signal?.aborted !== true;
  };
  for (const { name, override } of variants) {
    const modelAt = (multiple: number) =>
      override ? overridden(spec, task, environment, name, override, multiple) : session.model;
    const lengths = [];
    for (const multiple of evaluation.multiples) {
      const score = await evaluateAt(modelAt(multiple), session.params, task, training.length, multiple, evaluation);
      lengths.push({ multiple, length: multiple * training.length, score });
      if (!(await tick())) return undefined;
    }
    const defined = lengths.filter((entry) => entry.score).map((entry) => entry.multiple);
    const longest = Math.max(...defined);
    const positions = defined.length
      ? await evaluatePositions(modelAt(longest), session.params, task, training.length, longest, evaluation)
      : null;
    evaluations.push({ name, override, lengths, positions });
    if (!(await tick())) return undefined;
  }
  const shuffled = await evaluateShuffled(session.model, session.params, task, training.length, evaluation, spec.seed);
  return { evaluations, shuffled };
}

function timing(folder: string, training: TrainingConfig): TrialResult['timing'] {
  const seconds = readMetrics(metricsPath(folder)).map((line) => line.seconds);
  const median = [...seconds].sort((a, b) => a - b)[Math.floor(seconds.length / 2)] ?? 0;
  return {
    trainSeconds: seconds.reduce((a, b) => a + b, 0),
    medianStepSeconds: median,
    tokensPerSecond: (training.batchSize * training.length) / median,
  };
}
