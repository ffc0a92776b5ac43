/** Where trials run: in this process, or in worker processes on this machine. A trial cannot tell. */
import { type ChildProcess, fork } from 'node:child_process';
import { PosencError } from '@posenc/core';
import type { Environment, TrialSpec } from './spec.ts';
import { type RunOptions, runTrial, type TrialProgress, type TrialResult } from './trial.ts';

/** A trial, and the folder it runs in. */
export interface Job {
  readonly spec: TrialSpec;
  readonly folder: string;
}

/** Runs one job to its end; undefined when `signal` stopped it. Rejects when the trial failed. */
export type Executor = (job: Job, options: RunOptions) => Promise<TrialResult | undefined>;

/** Runs trials here, one after another, in the environment given. */
export const inProcess =
  (environment: Environment): Executor =>
  (job, options) =>
    runTrial(job.spec, job.folder, environment, options);

/** What a worker is sent, and what it answers. */
export type ToWorker = { readonly kind: 'run'; readonly job: Job } | { readonly kind: 'stop' };
/** What a worker process tells its parent. */
export type FromWorker =
  | { readonly kind: 'progress'; readonly progress: TrialProgress }
  | { readonly kind: 'notice'; readonly message: string }
  | { readonly kind: 'result'; readonly result: TrialResult | null }
  | { readonly kind: 'error'; readonly message: string; readonly userError: boolean };

/**
 * One fresh process per trial. `module` is the worker's entry file: it builds its own environment from `args` and calls
 * `serveTrials`. A worker whose parent dies stops by itself.
 */
export function workerProcesses(module: URL | string, args: readonly string[]): Executor {
  return (job, { onProgress, onNotice, signal }) =>
    new Promise((done, fail) => {
      const child = fork(module, [...args], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
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
        else fail(message.userError ? new PosencError(message.message) : new Error(message.message));
      });
      child.on('error', fail);
      child.on('close', (code, killedBy) => {
        signal?.removeEventListener('abort', stop);
        fail(
          new Error(
            `the worker of "${job.spec.name}" (seed ${job.spec.seed}) ended ${killedBy ? `by ${killedBy}` : `with code ${code}`}${errors ? `:\n${errors.trim()}` : ''}`,
          ),
        );
      });
      send({ kind: 'run', job });
    });
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
        onProgress: (progress) => void send({ kind: 'progress', progress }),
        onNotice: (text) => void send({ kind: 'notice', message: text }),
      });
      await send({ kind: 'result', result: result ?? null });
    } catch (error) {
      const userError = error instanceof PosencError;
      await send({
        kind: 'error',
        userError,
        message: userError ? error.message : String((error as Error).stack ?? error),
      });
    }
    process.exit(0);
  });
}
