/** One installation at a time in a folder. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';

/** Takes the folder; the result gives it back. Throws PosencError when another process has it. */
export function lockInstall(folder: string): () => void {
  const path = join(folder, 'install.lock');
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(readFileSync(path, 'utf8'));
    if (owner !== process.pid && isRunning(owner))
      throw new PosencError(`process ${owner} is installing into ${folder}: wait for it, or end it and run this again`);
    rmSync(path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid > 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
