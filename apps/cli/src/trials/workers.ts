/** Trials in worker processes of this CLI. */
import type { BackendName } from '@posenc/backend';
import { type Executor, workerProcesses } from '@posenc/training';

export interface WorkerOptions {
  readonly backend: BackendName;
  readonly threads: number;
  readonly plugins: readonly string[];
  readonly cwd: string;
}

/** From sources the worker is worker.ts, in the published package worker.js: it stands beside this file. */
export function workers(options: WorkerOptions): Executor {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return workerProcesses(new URL(`./worker.${extension}`, import.meta.url), [JSON.stringify(options)]);
}
