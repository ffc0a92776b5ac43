/**
 * The safetensors format: an 8-byte little-endian header length, a JSON header, then the tensors' bytes one after another.
 *
 *     { "__metadata__": { "format": "pt" }, "wte": { "dtype": "F32", "shape": [50257, 768], "data_offsets": [0, 154389504] }, … }
 *
 * Offsets count from the end of the header; together the tensors must cover the rest of the file exactly, without gap or overlap.
 * Source: https://github.com/huggingface/safetensors (README, "Format"). Both sides assume a little-endian machine.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { PosencError } from '@posenc/core';
import { writeFileAtomic } from './atomic.ts';
import { fileError } from './file-error.ts';
import { foreignFormat } from './foreign.ts';
import { bfloat16ToFloat32, float16ToFloat32 } from './half.ts';
import { duplicateKey } from './json-keys.ts';

interface Arrays {
  F64: Float64Array;
  F32: Float32Array;
  /** Widened to float32, exactly. */
  F16: Float32Array;
  /** Widened to float32, exactly. */
  BF16: Float32Array;
  I64: BigInt64Array;
  I32: Int32Array;
  U8: Uint8Array;
  /** One byte per value, 0 or 1. */
  BOOL: Uint8Array;
}

/** Number types of safetensors that have an array in JavaScript. */
export type Dtype = keyof Arrays;

/** A tensor on the host. `data` is row-major and has as many entries as the product of `shape` (1 for a scalar, shape []). */
export type HostTensor<D extends Dtype = Dtype> = {
  [K in D]: { readonly dtype: K; readonly shape: readonly number[]; readonly data: Arrays[K] };
}[D];

/** The content of a safetensors file. */
export interface SafetensorsFile {
  /** In the order of the file. A Map, since any string is allowed as a name. */
  readonly tensors: ReadonlyMap<string, HostTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

const itemSize: Readonly<Record<Dtype, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, U8: 1, BOOL: 1 };
/** What is written (the 16-bit floats are only read), in the reference implementation's alphabet: the last goes first, so that data stays aligned. */
const writable: readonly Dtype[] = ['BOOL', 'U8', 'I32', 'F32', 'F64', 'I64'];
/** The reference implementation's limit. */
const MAX_HEADER = 100_000_000;
const MAX_READ = 1 << 30;

/** Reads a file. Throws one PosencError when it is missing, unreadable, damaged, or another format. */
export function readSafetensors(path: string): SafetensorsFile {
  try {
    const stat = statSync(path);
    if (!stat.isFile())
      throw new PosencError(
        `cannot read "${path}": it is ${stat.isDirectory() ? 'a folder' : 'not a regular file'}; name a .safetensors file`,
      );
    const file = openSync(path, 'r');
    try {
      const read = (start: number, end: number) => {
        const bytes = allocate(path, end - start);
        for (let done = 0; done < bytes.length; ) {
          const count = readSync(file, bytes, done, Math.min(bytes.length - done, MAX_READ), start + done);
          if (count === 0) throw damaged(path, 'it became shorter while it was read');
          done += count;
        }
        return bytes;
      };
      return parse(path, stat.size, read);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}

/** Reads a file's bytes; the tensors are copies. `name` stands for the file in messages. Throws PosencError as `readSafetensors`. */
export function parseSafetensors(bytes: Uint8Array, name = 'safetensors bytes'): SafetensorsFile {
  return parse(name, bytes.length, (start, end) => new Uint8Array(bytes.subarray(start, end)));
}

/**
 * Writes a file atomically (see `writeFileAtomic`).
 *
 * @throws PosencError when the disk fails, a name is used twice, a dtype is not writable, or shape and data disagree
 */
export function writeSafetensors(
  path: string,
  tensors: Iterable<readonly [string, HostTensor]>,
  metadata: Readonly<Record<string, string>> = {},
): void {
  writeFileAtomic(path, runs(tensors, metadata));
}

/** The bytes of a file. Equal tensors give equal bytes, whatever their order; the layout is the reference implementation's. */
export function encodeSafetensors(
  tensors: Iterable<readonly [string, HostTensor]>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  return new Uint8Array(Buffer.concat(runs(tensors, metadata)));
}

interface Entry {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

type Read = (start: number, end: number) => Uint8Array<ArrayBuffer>;

function parse(file: string, size: number, read: Read): SafetensorsFile {
  const head = read(0, Math.min(size, 64));
  const foreign = (otherwise: string) => {
    const format = foreignFormat(head);
    if (!format) return damaged(file, otherwise);
    return new PosencError(`"${file}" is not a safetensors file but ${format.name}: ${format.advice}`);
  };
  if (size < 8)
    throw foreign(size === 0 ? 'it is empty' : `it has only ${size} bytes, and the header's length alone takes 8`);
  const stated = new DataView(head.buffer).getBigUint64(0, true);
  // Only here: a true header's length can look like "{" (123 bytes) or like a pickle (640 bytes).
  if (stated > MAX_HEADER)
    throw foreign(`its header should be ${stated} bytes long, and at most ${MAX_HEADER} are allowed`);
  if (stated > size - 8)
    throw damaged(
      file,
      `its header should be ${stated} bytes long, and only ${size - 8} follow: it is truncated, or another format`,
    );
  const headerEnd = 8 + Number(stated);
  if (head[8] !== 0x7b) throw damaged(file, 'its header does not start with "{"');

  const header = parseHeader(file, read(8, headerEnd));
  const { __metadata__: metadata = {}, ...rest } = header;
  if (!isObject(metadata) || Object.values(metadata).some((v) => typeof v !== 'string'))
    throw damaged(file, '"__metadata__" in its header is not an object of strings');
  const entries = Object.entries(rest).map(([name, info]) => checkEntry(file, name, info));
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  checkCover(file, entries, size - headerEnd);
  const tensors = new Map(entries.map((e) => [e.name, decode(e, read(headerEnd + e.begin, headerEnd + e.end))]));
  return { tensors, metadata: metadata as Record<string, string> };
}

function parseHeader(file: string, bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let header: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (error) {
    throw damaged(file, `its header is not JSON (${(error as Error).message.slice(0, 80)})`);
  }
  if (!isObject(header)) throw damaged(file, 'its header is not a JSON object');
  const twice = duplicateKey(text);
  if (twice !== undefined) throw damaged(file, `its header has the name ${quote(twice)} twice`);
  return header;
}

function checkEntry(file: string, name: string, info: unknown): Entry {
  const wrong = (what: string) => damaged(file, `tensor ${quote(name)} ${what}`);
  if (!isObject(info)) throw wrong('is not described by a JSON object');
  const { dtype, shape, data_offsets: offsets } = info;
  if (typeof dtype !== 'string') throw wrong('has no "dtype"');
  if (!Object.hasOwn(itemSize, dtype))
    throw new PosencError(
      `"${file}": tensor ${quote(name)} has dtype ${quote(dtype)}, which cannot be read; allowed: ${Object.keys(itemSize).join(', ')}. Convert it to one of them (F32, say)`,
    );
  if (!isSizes(shape)) throw wrong('has no "shape" of integers ≥ 0');
  if (!isSizes(offsets) || offsets.length !== 2) throw wrong('has no "data_offsets" of two integers ≥ 0');
  const [begin, end] = offsets as [number, number];
  if (begin > end) throw wrong(`ends (at byte ${end}) before it begins (at ${begin})`);
  const expected = shape.reduce((n, size) => n * size, 1) * itemSize[dtype as Dtype];
  if (expected !== end - begin)
    throw wrong(
      `has shape [${shape.slice(0, 8)}${shape.length > 8 ? ',…' : ''}] of ${dtype}, which takes ${expected} bytes, but data_offsets give it ${end - begin}`,
    );
  return { name, dtype: dtype as Dtype, shape, begin, end };
}

/** The tensors, in order, must cover all `length` bytes. */
function checkCover(file: string, entries: readonly Entry[], length: number): void {
  let covered = 0;
  let previous = 'the header';
  for (const { name, begin, end } of entries) {
    if (begin !== covered)
      throw damaged(
        file,
        `tensor ${quote(name)} begins at byte ${begin}, but ${previous} ends at ${covered}: ${begin < covered ? 'they overlap' : 'bytes in between belong to nothing'}`,
      );
    covered = end;
    previous = `tensor ${quote(name)}`;
  }
  if (covered > length)
    throw damaged(file, `it is truncated: its tensors take ${covered} bytes, and only ${length} are there`);
  if (covered < length)
    throw damaged(file, `${length - covered} bytes follow after the last tensor and belong to nothing`);
}

function decode({ dtype, shape }: Entry, { buffer }: Uint8Array<ArrayBuffer>): HostTensor {
  switch (dtype) {
    case 'F64':
      return { dtype, shape, data: new Float64Array(buffer) };
    case 'F32':
      return { dtype, shape, data: new Float32Array(buffer) };
    case 'F16':
      return { dtype, shape, data: float16ToFloat32(new Uint16Array(buffer)) };
    case 'BF16':
      return { dtype, shape, data: bfloat16ToFloat32(new Uint16Array(buffer)) };
    case 'I64':
      return { dtype, shape, data: new BigInt64Array(buffer) };
    case 'I32':
      return { dtype, shape, data: new Int32Array(buffer) };
    case 'U8':
      return { dtype, shape, data: new Uint8Array(buffer) };
    case 'BOOL':
      return { dtype, shape, data: new Uint8Array(buffer) };
  }
}

/** The file as runs of bytes; those of the tensors are views, not copies. */
function runs(
  tensors: Iterable<readonly [string, HostTensor]>,
  metadata: Readonly<Record<string, string>>,
): Uint8Array[] {
  const rank = (t: HostTensor) => writable.indexOf(t.dtype);
  const sorted = [...tensors].sort(
    ([an, a], [bn, b]) => rank(b) - rank(a) || Buffer.compare(Buffer.from(an), Buffer.from(bn)),
  );
  const fields: string[] = [];
  if (Object.keys(metadata).length) fields.push(`"__metadata__":${JSON.stringify(metadata)}`);
  let begin = 0;
  const seen = new Set<string>();
  const data = sorted.map(([name, tensor]) => {
    checkWritable(name, tensor);
    if (seen.has(name)) throw new PosencError(`two tensors are called ${quote(name)}: give them different names`);
    seen.add(name);
    const end = begin + tensor.data.byteLength;
    fields.push(
      `${JSON.stringify(name)}:${JSON.stringify({ dtype: tensor.dtype, shape: tensor.shape, data_offsets: [begin, end] })}`,
    );
    begin = end;
    return new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  });
  const header = Buffer.from(`{${fields.join(',')}}`);
  const start = Buffer.alloc(8 + Math.ceil(header.length / 8) * 8, ' ');
  start.writeBigUInt64LE(BigInt(start.length - 8));
  header.copy(start, 8);
  return [start, ...data];
}

function checkWritable(name: string, { dtype, shape, data }: HostTensor): void {
  if (name === '__metadata__' || Buffer.from(name).toString() !== name)
    throw new PosencError(`a tensor cannot be called ${quote(name)}`);
  if (!writable.includes(dtype))
    throw new PosencError(
      `tensor ${quote(name)} has dtype ${quote(dtype)}, which is read but not written; convert it to one of ${writable.join(', ')}`,
    );
  if (
    !isSizes(shape) ||
    shape.reduce((n, size) => n * size, 1) !== data.length ||
    data.BYTES_PER_ELEMENT !== itemSize[dtype]
  )
    throw new PosencError(
      `tensor ${quote(name)} has shape [${shape}] of ${dtype}, but ${data.length} values of ${data.BYTES_PER_ELEMENT} bytes`,
    );
}

function allocate(file: string, length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch {
    throw new PosencError(
      `"${file}": ${length} bytes in one piece do not fit in memory; split the file, or use a machine with more`,
    );
  }
}

const damaged = (file: string, what: string) =>
  new PosencError(`"${file}" is not a whole safetensors file: ${what}. Copy or download it again`);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);

const quote = (name: string) => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
