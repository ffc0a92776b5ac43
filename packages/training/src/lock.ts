/** At most one process works in a folder. */
import { join } from 'node:path';
import { type Hold, holdFile } from '@posenc/backend';
import { fileError } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';

/** A process that was killed takes a moment to be gone, and a run taken up again at once should not stumble over it. Milliseconds. */
const patience = 3000;

/**
 * Takes the folder's lock and returns the function that gives it back. A lock whose process is gone (killed) is taken over.
 *
 * @throws PosencError when a living process holds it
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, '.lock');
  const hold = take(path);
  if ('release' in hold) return hold.release;
  const { pid, host } = hold.holder;
  throw new PosencError(
    `"${folder}" is in use by process ${pid} on ${host}: wait for it, or choose another folder; if that process is not posenc's, delete "${path}"`,
  );
}

function take(path: string): Hold {
  try {
    return holdFile(path, patience);
  } catch (error) {
    throw fileError(error, 'lock', path);
  }
}
