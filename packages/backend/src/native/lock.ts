/** One installation at a time in a folder. */
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import { holdFile } from '../file-lock.ts';

/** Takes the folder; the result gives it back. Throws PosencError when another process has it. */
export function lockInstall(folder: string): () => void {
  const hold = holdFile(join(folder, 'install.lock'));
  if ('release' in hold) return hold.release;
  const { pid } = hold.holder;
  throw new PosencError(`process ${pid} is installing into ${folder}: wait for it, or end it and run this again`);
}
