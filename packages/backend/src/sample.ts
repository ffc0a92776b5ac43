/** A few training steps on a backend, in a process of its own: how fast it is here, and whether it computes what it should. */
import { fork } from 'node:child_process';
import { extname } from 'node:path';
import type { BackendInfo } from './names.ts';

/** A short training on a backend, to be timed and held against the others’; or why it failed. */
export type Sample = { readonly name: BackendInfo['name'] } & (
  | {
      readonly backend: BackendInfo;
      /** The fastest step after one to warm up: what else the machine does slows steps down, never up. */
      readonly stepMs: number;
      /** Of the first three steps, from the same weights on the same tokens on every backend. */
      readonly losses: readonly number[];
      /** All of it, the start included. */
      readonly seconds: number;
    }
  | { readonly failed: string }
);

export interface SampleOptions {
  /** Packages are looked for from here first. */
  readonly cwd?: string;
  readonly threads?: number;
}

const patience = 120_000;

/** Never rejects: what goes wrong is `failed`. */
export function sample(name: BackendInfo['name'], { cwd, threads }: SampleOptions = {}): Promise<Sample> {
  return new Promise((resolve) => {
    const started = performance.now();
    const fail = (failed: string) => resolve({ name, failed });
    const program = new URL(`./sample-child${extname(import.meta.url)}`, import.meta.url);
    const args = [name, ...(threads ? [String(threads)] : [])];
    const child = fork(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], timeout: patience });
    let errors = '';
    child.stderr!.on('data', (chunk) => {
      errors = (errors + chunk).slice(-1000);
    });
    child.once('message', (result: object) =>
      resolve({ name, ...result, seconds: (performance.now() - started) / 1000 } as Sample),
    );
    child.once('error', (error) => fail(`cannot start a process to try it (${error.message})`));
    child.once('close', (code, signal) => {
      const end = signal === 'SIGTERM' ? `not answered within ${patience / 1000} s` : 'ended the process';
      fail(`computing on it has ${end} (${signal ?? `exit code ${code}`})${errors && `: ${errors.trim()}`}`);
    });
  });
}
