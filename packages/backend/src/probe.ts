/** Which backends this machine has. Each is tried in a process of its own, so that a crash there is a line here. */
import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { type BackendInfo, backendNames } from './names.ts';

/** A backend as this machine has it; or why it has not, and the command that gets it. */
export type BackendReport =
  | ({ readonly available: true } & BackendInfo)
  | {
      readonly available: false;
      readonly name: BackendInfo['name'];
      readonly reason: string;
      /** What gets it, to be typed as it is; undefined when no command does. */
      readonly command?: string;
    };

const patience = 60_000;

/** Reports on every backend, in the order of `backendNames`. Installs nothing and leaves the current backend alone. */
export function probeBackends(): Promise<BackendReport[]> {
  return Promise.all(backendNames.filter((name) => name !== 'auto').map(probe));
}

function probe(name: BackendInfo['name']): Promise<BackendReport> {
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ available: false, name, reason });
    // .ts from the sources, .js from the published package.
    const program = new URL(`./probe-child${extname(import.meta.url)}`, import.meta.url);
    const child = fork(program, [name], { stdio: 'ignore', timeout: patience });
    child.once('message', (report) => resolve(report as BackendReport));
    child.once('error', (error) => fail(`cannot start a process to try it (${error.message})`));
    child.once('exit', (code, signal) => {
      const end = signal === 'SIGTERM' ? `not answered within ${patience / 1000} s` : `ended the process`;
      fail(`loading it has ${end} (${signal ?? `exit code ${code}`})`);
    });
  });
}
