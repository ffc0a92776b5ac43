/**
 * Logs that only grow: one JSON value per line (metrics.jsonl).
 *
 * A process killed while it appends leaves an unfinished last line. Readers pass over it and the next append takes its
 * place, so a log never has a broken line inside.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync } from 'node:fs';
import { PosencError } from '@posenc/core';
import { writeFully } from './atomic.ts';
import { fileError } from './file-error.ts';

const NEWLINE = 10;

/**
 * Appends one value as a line, creating the file if need be. After a failure the file is as it was.
 * NaN and ±Infinity become null: JSON has no word for them. Not for two writers at once.
 *
 * @throws PosencError when the disk is full, read-only, the folder is missing …
 */
export function appendJsonLine(path: string, value: unknown): void {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} is not a JSON value`);
  try {
    // 'a' would write at the end whatever was truncated meanwhile, but cannot read the tail: 'a+' can do both.
    const file = openSync(path, 'a+');
    try {
      const end = endOfLastLine(file);
      ftruncateSync(file, end);
      try {
        writeFully(file, Buffer.from(`${text}\n`));
      } catch (error) {
        ftruncateSync(file, end);
        throw error;
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError(error, 'append to', path);
  }
}

/**
 * All values of a log, the unfinished last line (one without a line break) left out.
 *
 * @throws PosencError naming the line when one inside is not JSON, or when the file cannot be read
 */
export function readJsonLines(path: string): unknown[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  return lines.map((line, i) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      throw new PosencError(
        `"${path}" line ${i + 1} is not JSON: ${JSON.stringify(line.slice(0, 40))}; remove that line`,
      );
    }
  });
}

/** Number of bytes up to and with the last line break. */
function endOfLastLine(file: number): number {
  const chunk = Buffer.alloc(4096);
  let end = fstatSync(file).size;
  while (end > 0) {
    const start = Math.max(0, end - chunk.length);
    const read = readSync(file, chunk, 0, end - start, start);
    const found = chunk.subarray(0, read).lastIndexOf(NEWLINE);
    if (found >= 0) return start + found + 1;
    end = start;
  }
  return 0;
}
