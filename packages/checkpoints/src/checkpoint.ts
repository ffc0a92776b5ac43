/**
 * Training checkpoints: a folder in which each checkpoint is a pair of files,
 *
 *     step-00000200.json                    the state, plain JSON, with the name and SHA-256 of the tensors' file
 *     step-00000200-1f0c9ab52e60.safetensors  the tensors; the name carries the head of their SHA-256
 *
 * The tensors are written first, and never again under that name; the JSON file, written last, makes the checkpoint exist.
 * A process killed at any moment therefore leaves every earlier checkpoint whole, and a half-written pair cannot be loaded:
 * either its JSON is missing, or a checksum is wrong.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PosencError } from '@posenc/core';
import { removeStaleTemporaries, writeFileAtomic } from './atomic.ts';
import { fileError } from './file-error.ts';
import { ensureFolder } from './folder.ts';
import { encodeSafetensors, type HostTensor, parseSafetensors } from './safetensors.ts';

/** JSON data: what a state may consist of. Typed arrays belong among the tensors. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A moment of a training: its tensors by name, and whatever else is needed to go on from it. */
export interface Checkpoint {
  readonly step: number;
  readonly tensors: ReadonlyMap<string, HostTensor>;
  readonly state: Json;
}

/** The newest checkpoint that is whole. */
export interface Latest {
  readonly checkpoint: Checkpoint;
  /** One message per newer checkpoint that was passed over, newest first: tell the user. Empty: the newest is whole. */
  readonly skipped: readonly string[];
}

const jsonName = /^step-(?<step>\d{8,})\.json$/;
const ownName = /^step-(?<step>\d{8,})(-[0-9a-f]{12}\.safetensors|\.json)$/;

/**
 * Saves a checkpoint, then removes the earlier ones but the newest `keep − 1`, and what killed writers left. Later ones (a
 * run that went back) stay until their step is saved again. The folder is created if need be. One process at a time may
 * save into a folder.
 *
 * @throws PosencError when the disk is full, read-only …; every earlier checkpoint is then still whole
 * @throws TypeError when the state is not exactly what JSON would give back (NaN, undefined, −0, typed arrays)
 */
export function saveCheckpoint(
  folder: string,
  step: number,
  tensors: Iterable<readonly [string, HostTensor]>,
  state: Json,
  options: { readonly keep?: number } = {},
): void {
  const { keep = 2 } = options;
  if (!Number.isSafeInteger(step) || step < 0) throw new RangeError(`step is ${step}: an integer ≥ 0 is needed`);
  if (!Number.isSafeInteger(keep) || keep < 1) throw new RangeError(`keep is ${keep}: an integer ≥ 1 is needed`);
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(state) ?? 'null'), state))
    throw new TypeError('the state is not plain JSON data: writing and reading it would change it');

  const bytes = encodeSafetensors(tensors);
  const digest = sha256(bytes);
  const file = `${stem(step)}-${digest.slice(0, 12)}.safetensors`;
  const record = { step, tensors: { file, sha256: digest }, state };
  ensureFolder(folder);
  writeFileAtomic(join(folder, file), bytes);
  writeFileAtomic(
    join(folder, `${stem(step)}.json`),
    `${JSON.stringify({ ...record, sha256: sha256(JSON.stringify(record)) }, null, 2)}\n`,
  );
  prune(folder, step, keep);
}

/** Steps of the checkpoints in a folder, ascending, whether or not they are whole. A missing folder has none. */
export function listCheckpoints(folder: string): number[] {
  return list(folder)
    .flatMap((name) => jsonName.exec(name)?.groups?.step ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Loads one checkpoint. Throws PosencError when it is missing or damaged. */
export function loadCheckpoint(folder: string, step: number): Checkpoint {
  const path = join(folder, `${stem(step)}.json`);
  const { tensors, state } = readRecord(path, step);
  const file = join(folder, tensors.file);
  const bytes = readBytes(file);
  if (sha256(bytes) !== tensors.sha256)
    throw new PosencError(
      `"${file}" does not belong to "${path}": its SHA-256 is another; one of the two was damaged or replaced`,
    );
  return { step, tensors: parseSafetensors(bytes, file).tensors, state };
}

/**
 * The newest whole checkpoint, falling back to earlier ones; `undefined` when there is none at all.
 *
 * @throws PosencError when there are checkpoints and none is whole: starting again unasked would hide the loss
 */
export function latestCheckpoint(folder: string): Latest | undefined {
  const steps = listCheckpoints(folder).reverse();
  const skipped: string[] = [];
  for (const step of steps) {
    try {
      return { checkpoint: loadCheckpoint(folder, step), skipped };
    } catch (error) {
      if (!(error instanceof PosencError)) throw error;
      skipped.push(`checkpoint of step ${step} skipped: ${error.message}`);
    }
  }
  if (steps.length === 0) return undefined;
  throw new PosencError(
    `no checkpoint in "${folder}" can be loaded; delete the folder to train from the start\n${skipped.map((s) => `  - ${s}`).join('\n')}`,
  );
}

interface Stored {
  readonly step: number;
  readonly tensors: { readonly file: string; readonly sha256: string };
  readonly state: Json;
}

/** A record whose checksum is right was written by `saveCheckpoint`, so its fields need no further check. */
function readRecord(path: string, step: number): Stored {
  const text = readBytes(path).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PosencError(`"${path}" is not JSON: it was damaged`);
  }
  const { sha256: digest, ...record } = (value ?? {}) as Stored & { sha256?: string };
  if (sha256(JSON.stringify(record)) !== digest)
    throw new PosencError(`"${path}" was changed or damaged: its SHA-256 is wrong`);
  if (record.step !== step) throw new PosencError(`"${path}" is the checkpoint of step ${record.step}: it was renamed`);
  return record;
}

/** A JSON file goes before its tensors, so that no checkpoint is ever listed without them. */
function prune(folder: string, saved: number, keep: number): void {
  const steps = listCheckpoints(folder).filter((step) => step <= saved);
  const kept = steps.slice(-keep);
  try {
    for (const step of steps.slice(0, -keep)) rmSync(join(folder, `${stem(step)}.json`), { force: true });
    const wanted = new Set(kept.flatMap((step) => tensorsFile(folder, step)));
    for (const name of list(folder)) {
      const step = Number(ownName.exec(name)?.groups?.step ?? Number.NaN);
      if (name.endsWith('.safetensors') && step <= saved && !wanted.has(name))
        rmSync(join(folder, name), { force: true });
    }
  } catch (error) {
    throw fileError(error, 'remove an old checkpoint from', folder);
  }
  removeStaleTemporaries(folder, (target) => ownName.test(target));
}

/** Nothing when the record is damaged: its tensors cannot be trusted either. */
function tensorsFile(folder: string, step: number): string[] {
  try {
    return [readRecord(join(folder, `${stem(step)}.json`), step).tensors.file];
  } catch (error) {
    if (error instanceof PosencError) return [];
    throw error;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fileError(error, 'read', folder);
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileError(error, 'read', path);
  }
}

const stem = (step: number) => `step-${String(step).padStart(8, '0')}`;
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
