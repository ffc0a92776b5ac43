/** Where trials run: in this process, or in worker processes on this machine. A trial cannot tell. */
import { type ChildProcess, fork } from 'node:child_process';
import { PosencError } from '@posenc/core';
import type { Environment, TrialSpec } from './spec.ts';
import { type RunOptions, runTrial, type TrialProgress, type TrialResult } from './trial.ts';

/** A trial, and the folder it runs in. */
export interface Job {
  /** The id it was planned under. */
  readonly id: string;
  readonly spec: TrialSpec;
  readonly folder: string;
}

/** Runs one job to its end; undefined when `signal` stopped it. Rejects when the trial failed. */
export type Executor = (job: Job, options: RunOptions) => Promise<TrialResult | undefined>;

/** Runs trials here, one after another, in the environment given. */
export const inProcess =
  (environment: Environment): Executor =>
  (job, options) =>
    runTrial(job.spec, job.folder, environment, { ...options, plannedId: job.id });

/** What a worker is sent, and what it answers. */
export type ToWorker =
  | { readonly kind: 'run'; readonly job: Job; readonly allowDrift?: boolean }
  | { readonly kind: 'stop' };
/** What a worker process tells its parent. */
export type FromWorker =
  | { readonly kind: 'progress'; readonly progress: TrialProgress }
  | { readonly kind: 'notice'; readonly message: string }
  | { readonly kind: 'result'; readonly result: TrialResult | null }
  | { readonly kind: 'error'; readonly error: TransferredError };

/** What is left of an error that crosses from one process to another. */
interface TransferredError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/**
 * One fresh process per trial. `module` is the worker's entry file: it builds its own environment from `args` and calls
 * `serveTrials`. A worker whose parent dies stops by itself; one that hangs is killed when its parent exits. What its plug-ins
 * print goes to standard error: standard output is for results.
 */
export function workerProcesses(module: URL | string, args: readonly string[]): Executor {
  return (job, { onProgress, onNotice, signal, allowDrift }) =>
    new Promise((done, fail) => {
      const child = fork(module, [...args], { stdio: ['ignore', 2, 'pipe', 'ipc'] });
      const kill = () => void child.kill('SIGKILL');
      process.on('exit', kill);
      const send = (message: ToWorker) => child.connected && child.send(message);
      const stop = () => send({ kind: 'stop' });
      let errors = '';
      child.stderr!.on('data', (chunk) => {
        errors = (errors + chunk).slice(-4000);
      });
      signal?.addEventListener('abort', stop);
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'progress') onProgress?.(message.progress);
        else if (message.kind === 'notice') onNotice?.(message.message);
        else if (message.kind === 'result') done(message.result ?? undefined);
        else fail(revived(message.error));
      });
      child.on('error', fail);
      child.on('close', (code, killedBy) => {
        signal?.removeEventListener('abort', stop);
        process.off('exit', kill);
        fail(workerEnded(code, killedBy, errors.trim()));
      });
      send({ kind: 'run', job, allowDrift });
    });
}

/** The error as it was thrown: its stack tells where in the worker, and none of this process would. */
const revived = ({ name, message, stack }: TransferredError): Error =>
  name === 'PosencError' ? new PosencError(message) : Object.assign(new Error(message), { name, stack });

/** What is thrown may be anything. */
const transferred = (thrown: unknown): TransferredError =>
  thrown instanceof Error
    ? { name: thrown.name, message: thrown.message, stack: thrown.stack ?? String(thrown) }
    : { name: 'Error', message: String(thrown), stack: String(thrown) };

/** What the end of a worker that gave no answer means: killed from outside, mostly for its memory, or a defect. */
function workerEnded(code: number | null, killedBy: NodeJS.Signals | null, errors: string): Error {
  const outOfMemory = /heap out of memory|Array buffer allocation failed/.test(errors);
  if (killedBy === 'SIGKILL' || outOfMemory)
    return new PosencError(
      'its process was killed, mostly a sign that memory ran out: use fewer --workers, a smaller batchSize or model; --resume goes on',
    );
  if (killedBy && ['SIGTERM', 'SIGINT', 'SIGHUP'].includes(killedBy))
    return new PosencError(`its process was stopped by ${killedBy}: --resume goes on`);
  return new Error(
    `a worker ended ${killedBy ? `by ${killedBy}` : `with code ${code}`}${errors ? `:\n${errors}` : ''}`,
  );
}

/** The worker's side: runs the jobs its parent sends. Ctrl-C reaches the whole process group; the parent decides what it means. */
export function serveTrials(prepare: () => Promise<Environment>): void {
  const parent = process as NodeJS.Process & Pick<ChildProcess, 'send'>;
  const send = (message: FromWorker) =>
    new Promise<void>((sent) => (parent.connected ? parent.send(message, () => sent()) : sent()));
  const stopper = new AbortController();
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(1));
  process.on('message', async (message: ToWorker) => {
    if (message.kind === 'stop') return stopper.abort();
    try {
      const result = await runTrial(message.job.spec, message.job.folder, await prepare(), {
        signal: stopper.signal,
        plannedId: message.job.id,
        allowDrift: message.allowDrift,
        onProgress: (progress) => void send({ kind: 'progress', progress }),
        onNotice: (text) => void send({ kind: 'notice', message: text }),
      });
      await send({ kind: 'result', result: result ?? null });
    } catch (error) {
      await send({ kind: 'error', error: transferred(error) });
    }
    process.exit(0);
  });
}
