/** Text that a user points at: a file, or `-` for standard input. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileError } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import type { Io } from '../io.ts';
import { parseJson } from './json.ts';

/** Configs and suites are written by hand. */
const maxBytes = 16 * 1024 * 1024;

/** The JSON value in a file; `-` reads standard input. Throws PosencError for a file that cannot be read or is not JSON. */
export async function readJson(path: string, io: Io): Promise<unknown> {
  if (path === '-') return parseJson(await text(io.stdin), 'standard input');
  return parseJson(readText(path, io), path);
}

function readText(path: string, io: Io): string {
  const absolute = resolve(io.cwd, path);
  try {
    const { size } = statSync(absolute);
    if (size > maxBytes)
      throw new PosencError(
        `${path} has ${Math.round(size / 2 ** 20)} MiB, too much for a config (at most 16): is it the right file?`,
      );
    const bytes = readFileSync(absolute);
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
      throw new PosencError(`${path} is UTF-16 text; save it as UTF-8`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError && (error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new PosencError(`${path} is not UTF-8 text: expected a JSON file`, { cause: error });
    throw fileError(error, 'read', path);
  }
}
