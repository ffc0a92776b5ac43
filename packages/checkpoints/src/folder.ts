import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileError } from './file-error.ts';

/**
 * Creates a folder and those above it; an existing one is fine. (Node's `recursive: true` reports a read-only file system
 * as "no such file".)
 *
 * @throws PosencError when the disk is full or read-only, a file is in the way …
 */
export function ensureFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    if (dirname(path) !== path) ensureFolder(dirname(path));
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    const exists =
      (error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (!exists) throw fileError(error, 'create the folder', path);
  }
}
