/**
 * Files that are either the old one or the new one, whole: whatever happens in between (kill -9, a full disk, a power cut).
 *
 * The bytes go to a temporary file in the same folder, are flushed to the disk, and the file takes the target's name in one
 * step (rename); then the folder is flushed, so that the new name survives a power cut too.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hash32, PosencError } from '@posenc/core';
import { fileError } from './file-error.ts';

/** One write call takes less than 2 GiB. */
const CHUNK = 1 << 30;

const host = hash32(hostname()).toString(36);
const temporary = /^\.(?<target>.+)\.(?<host>[0-9a-z]+)-(?<pid>\d+)-[0-9a-f]+\.tmp$/s;

/**
 * Replaces (or creates) a file. When this throws, an existing file is as it was and no temporary file is left. (One
 * exception: if the disk fails while the folder is flushed, the new file is in place, but might not survive a power cut.)
 *
 * @param content text (written as UTF-8), bytes, or several runs of bytes written one after another
 * @throws PosencError when the disk is full, read-only, the folder is missing …
 */
export function writeFileAtomic(path: string, content: string | Uint8Array | Iterable<Uint8Array>): void {
  const runs = typeof content === 'string' ? [Buffer.from(content)] : ArrayBuffer.isView(content) ? [content] : content;
  const folder = dirname(path);
  const temp = join(folder, `.${basename(path)}.${host}-${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
  let created = false;
  try {
    const file = openSync(temp, 'wx');
    created = true;
    try {
      for (const run of runs) writeFully(file, run);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temp, path);
    created = false;
    flushFolder(folder);
  } catch (error) {
    if (created) unlinkQuietly(temp);
    throw fileError(error, 'write', path);
  }
}

/** `writeFileAtomic` of a value as JSON, indented for readers. NaN and ±Infinity become null: JSON has no word for them. */
export function writeJsonAtomic(path: string, value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  if (text === undefined) throw new TypeError(`${typeof value} is not a JSON value`);
  writeFileAtomic(path, `${text}\n`);
}

/**
 * Removes what killed writers left in a folder: temporary files of this machine whose process is gone. Those of a process
 * that still runs, here or on another machine that shares the folder, are left alone.
 *
 * @param isOurs which targets to look at; default: every one
 * @throws PosencError when the folder cannot be read
 */
export function removeStaleTemporaries(folder: string, isOurs: (target: string) => boolean = () => true): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw fileError(error, 'read', folder);
  }
  for (const name of names) {
    const parts = temporary.exec(name)?.groups;
    if (parts && parts.host === host && isOurs(parts.target!) && !isRunning(Number(parts.pid)))
      unlinkQuietly(join(folder, name));
  }
}

/** Writes every byte: one call may write fewer than asked for. */
export function writeFully(file: number, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length; ) {
    const written = writeSync(file, bytes, start, Math.min(bytes.length - start, CHUNK));
    if (written === 0) throw new PosencError('the file system accepts no more bytes; free some space');
    start += written;
  }
}

/** Windows, and some network file systems, cannot flush a folder; the rename itself has happened by then. */
function flushFolder(folder: string): void {
  let handle: number | undefined;
  try {
    handle = openSync(folder, 'r');
    fsyncSync(handle);
  } catch (error) {
    if (
      !['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP', 'EBADF'].includes((error as NodeJS.ErrnoException).code ?? '')
    )
      throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** What matters then is the first error, not that its litter could not be removed. */
function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
