/** At most one process works in a folder. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileError } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';

/**
 * Takes the folder's lock and returns the function that gives it back. A lock whose process is gone (killed) is taken over.
 *
 * @throws PosencError when a living process holds it
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, '.lock');
  for (let waited = 0; ; waited += pause) {
    try {
      const file = openSync(path, 'wx');
      writeSync(file, JSON.stringify({ pid: process.pid, host: hostname() }));
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(error, 'lock', path);
    }
    const holder = readHolder(path);
    if (!holder || !isAlive(holder)) rmSync(path, { force: true });
    else if (holder.pid === process.pid || holder.host !== hostname() || waited >= patience)
      throw new PosencError(
        `"${folder}" is in use by process ${holder.pid} on ${holder.host}: wait for it, or choose another folder; if that process is not posenc's, delete "${path}"`,
      );
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
  }
}

/** A process that was killed takes a moment to be gone, and a run taken up again at once should not stumble over it. Milliseconds. */
const patience = 3000;
const pause = 50;

interface Holder {
  readonly pid: number;
  readonly host: string;
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return undefined; // its writer was killed before it wrote, or gave the lock back just now
  }
}

/** A process of another machine cannot be asked: it counts as alive. */
function isAlive({ pid, host }: Holder): boolean {
  if (host !== hostname()) return true;
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
