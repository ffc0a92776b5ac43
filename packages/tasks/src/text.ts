/** Next-token prediction on a text file, by characters or bytes. The head of the text is for training, the tail for evaluation. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { PosencError, parseConfig, z } from '@posenc/core';
import { countNgrams, ngramControls } from './ngram.ts';
import { defineTask, type Task } from './task.ts';
import { byteTokenizer, charactersOf, charTokenizer } from './tokenizer.ts';
import { drawWindows, evaluationWindows, wholeSequence } from './windows.ts';

const options = {
  tokenizer: z
    .enum(['char', 'byte'])
    .default('char')
    .describe('char: the characters of the file, sorted; byte: the 256 bytes of UTF-8'),
  split: z.number().gt(0).lt(1).default(0.9).describe('share of the tokens, from the start, that is for training'),
  lowercase: z.boolean().default(false).describe('turn the text to lower case first'),
};

const optionsSchema = z.strictObject(options);
/** How a text becomes tokens, and which part of it is kept for evaluation. */
export type TextOptions = z.output<typeof optionsSchema>;

/** Raised when the windows drawn from equal data change, for then trials are not the same any more. */
const VERSION = 1;

/**
 * A task on a text in memory; bytes are taken as UTF-8, any bytes at all by the byte tokenizer.
 *
 * @param name stands for the text in messages
 * @throws PosencError when the text is empty, too short to split, or not UTF-8
 */
export function textTask(source: string | Uint8Array, given: Partial<TextOptions> = {}, name = 'the text'): Task {
  const { tokenizer: kind, split, lowercase } = parseConfig(optionsSchema, given, name);
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  const raw = kind === 'byte' && !lowercase;
  const text = raw ? '' : prepared(decodeUtf8(bytes, name), lowercase);
  const tokenizer = kind === 'byte' ? byteTokenizer() : charTokenizer(charactersOf(text));
  const ids = raw ? Int32Array.from(bytes) : tokenizer.encode(text);
  if (tokenizer.vocabulary.length === 1)
    throw new PosencError(`${name} consists of one character repeated: there is nothing to predict`);
  const border = Math.floor(ids.length * split);
  const [train, validation] = [ids.subarray(0, border), ids.subarray(border)];
  if (train.length < 2 || validation.length < 2)
    throw new PosencError(
      `${name} has ${ids.length} tokens, which a split at ${split} divides into ${train.length} and ${validation.length}: both parts need at least 2`,
    );
  const definition = { type: 'text', version: VERSION, tokenizer: kind, split, lowercase, data: sha256(bytes) };
  let counts: ReturnType<typeof countNgrams> | undefined;
  return {
    tokenizer,
    digest: sha256(JSON.stringify(definition)),
    trainBatch: (random, rows, length) => drawWindows(train, random, rows, length, `the training part of ${name}`),
    evalBatches: (request) => evaluationWindows(validation, request, `the evaluation part of ${name}`),
    controls(batches = [wholeSequence(validation)]) {
      counts ??= countNgrams(train, tokenizer.vocabulary.length);
      return ngramControls(counts, batches);
    },
  };
}

/** Next-token prediction on a text file. */
export const text = defineTask({
  type: 'text',
  description: 'next-token prediction on a text file, by characters or bytes',
  config: z.strictObject({ file: z.string().min(1).describe('path of a UTF-8 text file'), ...options }),
  create: ({ file, ...rest }, { resolve }) => textTask(readBytes(resolve(file)), rest, `"${file}"`),
});

function readBytes(path: string): Uint8Array {
  try {
    // A device or a pipe may never end.
    if (!statSync(path).isFile() && !statSync(path).isDirectory())
      throw new PosencError(`cannot read the text "${path}": it is no regular file; name a text file`);
    return readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const causes: Record<string, string> = {
      ENOENT: 'no such file; check "file" of the task, a relative path starts at the folder of the suite',
      EISDIR: 'it is a folder; name a text file',
      EACCES: 'permission denied; make it readable',
      ERR_FS_FILE_TOO_LARGE: 'it has more than 2 GiB; use a part of it',
    };
    throw new PosencError(`cannot read the text "${path}": ${causes[code] ?? message}`, { cause: error });
  }
}

function prepared(text: string, lowercase: boolean): string {
  return lowercase ? text.toLowerCase() : text;
}

/** Strict: a byte order mark is dropped, anything that is not UTF-8 refused. */
function decodeUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const offset = firstInvalidByte(bytes);
    const byte = bytes[offset]?.toString(16).padStart(2, '0');
    throw new PosencError(
      `${name} is not UTF-8 text: byte 0x${byte} at offset ${offset} belongs to no character; convert the file, or use "tokenizer": "byte"`,
    );
  }
}

/** A lenient decoder puts U+FFFD where a byte is wrong; one that was in the text has its own three bytes there. */
function firstInvalidByte(bytes: Uint8Array): number {
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let offset = 0;
  let from = 0;
  for (;;) {
    const found = lenient.indexOf('\uFFFD', from);
    offset += Buffer.byteLength(lenient.slice(from, found));
    if (!(bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd)) return offset;
    offset += 3;
    from = found + 1;
  }
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
