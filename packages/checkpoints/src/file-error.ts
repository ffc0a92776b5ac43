/** What the operating system says when a file cannot be used, told to a user. */
import { PosencError } from '@posenc/core';

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder; check the path',
  ENOTDIR: 'a part of the path is a file, not a folder; check the path',
  EISDIR: 'it is a folder, and a file was expected; name a file',
  EEXIST: 'something of that name is in the way; move it, or choose another path',
  ENOTEMPTY: 'a folder that is not empty is in the way; move it, or choose another path',
  EACCES: 'permission denied; change its owner or permissions, or choose another path',
  EPERM: 'operation not permitted; change its owner or permissions, or choose another path',
  EROFS: 'the file system is mounted read-only; choose a path on a writable disk',
  ENOSPC: 'the disk is full; free some space, or choose a path on another disk',
  EDQUOT: 'your disk quota is used up; free some space, or choose a path on another disk',
  EFBIG: 'the file would be larger than this file system allows; choose a path on another disk',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine; close some programs',
  ENAMETOOLONG: 'the name is too long; choose a shorter path',
  ELOOP: 'its symbolic links lead in a circle; fix the links',
  EBUSY: 'another program is using it; close that program and try again',
  EXDEV: 'it would have to move between two file systems; choose a path on one disk',
  ETXTBSY: 'it is a program that is running; choose another path',
  EIO: 'the disk reported an input/output error; check the disk, or choose a path on another one',
  ESTALE: 'the network file system lost the file; try again',
  EINVAL: 'this path cannot be used as a file; choose another path',
  ERR_INVALID_ARG_VALUE: 'the path contains a null byte; remove it',
};

/**
 * The PosencError for an error of `node:fs`: what was being done, where, why it failed, what to do. Any other error comes
 * back as it is, for it is a defect and deserves its stack. Use as `throw fileError(error, 'write', path)`.
 *
 * @param doing a verb phrase: "read", "write", "save a checkpoint in"
 */
export function fileError(error: unknown, doing: string, path: string): unknown {
  if (!(error instanceof Error) || error instanceof PosencError) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  const cause = code === undefined ? undefined : causes[code];
  if (cause === undefined && syscall === undefined) return error;
  return new PosencError(`cannot ${doing} "${path}": ${cause ?? error.message}`, { cause: error });
}
