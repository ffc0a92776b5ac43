/**
 * Sets a native backend up in a folder of its own: as its authors mean it where that works, else by building the binding
 * against the TensorFlow wheel. Run again after any interruption it goes on; run again when all is done it says so.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PosencError } from '@posenc/core';
import type { BackendInfo } from '../names.ts';
import { sample } from '../sample.ts';
import { CommandFailed, type Workshop } from './command.ts';
import { dataFolder, type NativeName, nativeFolder } from './folder.ts';
import { lockInstall } from './lock.ts';
import { type Recipe, recipes } from './recipe.ts';
import { type Checksums, damaged, type InstallRecord, readRecord, writeRecord } from './record.ts';
import { buildRequirements, commonRequirements, missing, type Requirement } from './requirements.ts';
import { npmStep, remove, type Step, sizeOf, wheelSteps } from './steps.ts';
import type { Env } from './system.ts';

/** What an installation tells while it runs: which step it is at, what has been downloaded, what was verified. */
export type InstallEvent =
  | { readonly kind: 'start' | 'kept'; readonly title: string }
  | { readonly kind: 'progress'; readonly title: string; readonly bytes: number }
  | {
      readonly kind: 'done';
      readonly title: string;
      readonly seconds: number;
      readonly bytes: number;
      readonly checksums: Checksums;
    }
  | { readonly kind: 'note'; readonly text: string };

/** Where a native backend goes, and who listens. */
export interface InstallOptions {
  /** posenc's data folder, in which the backend gets its own; default `POSENC_HOME` or the user's. */
  readonly home?: string;
  readonly env?: Env;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: InstallEvent) => void;
}

/** A native backend that is in place now, and what it took. */
export interface Installation {
  readonly backend: BackendInfo;
  readonly folder: string;
  readonly way: 'npm' | 'wheel';
  /** It was there already, unchanged. */
  readonly found: boolean;
  /** Of this run. */
  readonly seconds: number;
  /** Of all runs together. */
  readonly downloadedBytes: number;
  readonly diskBytes: number;
  readonly checksums: Checksums;
  readonly sources: Checksums;
}

/** What an installation would do and need, before anything is downloaded. */
export interface InstallPlan {
  readonly folder: string;
  readonly downloadMegabytes: number;
  readonly diskMegabytes: number;
  readonly requirements: readonly Requirement[];
  readonly steps: readonly { readonly title: string; readonly when: string; readonly finished: boolean }[];
}

/** What an installation would do. Writes nothing. */
export function planInstall(
  name: NativeName,
  { home = dataFolder(), env = process.env }: InstallOptions = {},
): InstallPlan {
  const recipe = recipes[name];
  const folder = nativeFolder(name, home);
  const { way, parts } = readRecord(folder);
  const line = (when: string) => (step: Step) => ({ title: step.title, when, finished: step.id in parts });
  return {
    folder,
    downloadMegabytes: recipe.download,
    diskMegabytes: recipe.disk,
    requirements: [...commonRequirements(recipe, folder, env), ...buildRequirements(env)],
    steps: [
      ...(way === 'wheel' ? [] : [npmStep(recipe)].map(line('first'))),
      ...(way === 'npm' ? [] : wheelSteps(recipe).map(line(way === 'wheel' ? 'first' : 'if that download fails'))),
    ],
  };
}

/** Throws PosencError for what is missing or fails: the message says what, why and what to do. */
export async function installNative(name: NativeName, options: InstallOptions = {}): Promise<Installation> {
  const { home = dataFolder(), env = process.env, signal, onEvent = () => {} } = options;
  const started = performance.now();
  const recipe = recipes[name];
  const folder = nativeFolder(name, home);
  makeFolder(folder);
  const unlock = lockInstall(folder);
  const shop: Workshop = { folder, work: join(folder, `work-${process.pid}`), env, signal };
  try {
    for (const old of readdirSync(folder).filter((file) => file.startsWith('work-'))) remove(join(folder, old));
    mkdirSync(shop.work);
    const before = await intact(folder, onEvent);
    if (!before.checked) demand(commonRequirements(recipe, folder, env), name);
    const { record, backend } = await complete(recipe, shop, before, onEvent);
    writeRecord(folder, { ...record, checked: before.checked ?? new Date().toISOString() });
    for (const scrap of ['cache', 'wheels', 'site/tensorflow/include']) remove(join(folder, scrap));
    const parts = Object.values(record.parts);
    return {
      backend,
      folder,
      way: record.way!,
      found: before.checked !== undefined,
      seconds: (performance.now() - started) / 1000,
      downloadedBytes: parts.reduce((sum, part) => sum + part.downloadedBytes, 0),
      diskBytes: sizeOf(folder),
      checksums: Object.assign({}, ...parts.map(({ files }) => files)) as Checksums,
      sources: Object.assign({}, ...parts.map(({ sources }) => sources)) as Checksums,
    };
  } finally {
    remove(shop.work);
    unlock();
  }
}

type Outcome = { readonly record: InstallRecord; readonly backend: BackendInfo };

async function complete(
  recipe: Recipe,
  shop: Workshop,
  before: InstallRecord,
  onEvent: (event: InstallEvent) => void,
): Promise<Outcome> {
  let record = before;
  if (record.way !== 'wheel') {
    try {
      record = await perform([npmStep(recipe)], { ...record, way: 'npm' }, shop, onEvent);
      return { record, backend: await check(recipe, shop, onEvent) };
    } catch (error) {
      if (!(error instanceof PosencError) && !(error instanceof CommandFailed)) throw error;
      onEvent({ kind: 'note', text: `that did not work (${error.message}); building it instead` });
      demand(buildRequirements(shop.env), recipe.name, error.message);
      record = { way: 'wheel', npmFailed: error.message, parts: {} };
      writeRecord(shop.folder, record);
    }
  } else demand(buildRequirements(shop.env), recipe.name, record.npmFailed);
  record = await perform(wheelSteps(recipe), record, shop, onEvent);
  return { record, backend: await check(recipe, shop, onEvent) };
}

/** Does the steps that the record does not have, and records each. */
async function perform(
  steps: readonly Step[],
  before: InstallRecord,
  shop: Workshop,
  onEvent: (event: InstallEvent) => void,
): Promise<InstallRecord> {
  let record = before;
  for (const step of steps) {
    const { id, title } = step;
    if (record.parts[id]) {
      onEvent({ kind: 'kept', title });
      continue;
    }
    onEvent({ kind: 'start', title });
    const started = performance.now();
    const grown = step.growing?.(shop);
    const watch = grown && setInterval(() => onEvent({ kind: 'progress', title, bytes: sizeOf(grown) }), 500);
    try {
      const part = { ...(await step.run(shop)), seconds: (performance.now() - started) / 1000 };
      record = { ...record, parts: { ...record.parts, [id]: part } };
      writeRecord(shop.folder, record);
      onEvent({
        kind: 'done',
        title,
        seconds: part.seconds,
        bytes: part.downloadedBytes,
        checksums: { ...part.sources, ...part.files },
      });
    } catch (error) {
      if (!(error instanceof CommandFailed) || id === 'npm') throw error;
      throw new PosencError(
        `${title}: ${error.message}\nAll that it said is in ${join(shop.folder, 'install.log')}. Run this again to go on: what is finished is kept.`,
      );
    } finally {
      clearInterval(watch);
    }
  }
  return record;
}

/** Computes with it, in a process of its own. */
async function check(
  recipe: Recipe,
  { folder }: Workshop,
  onEvent: (event: InstallEvent) => void,
): Promise<BackendInfo> {
  const title = 'train a few steps on it';
  onEvent({ kind: 'start', title });
  const result = await sample(recipe.name, { cwd: folder });
  if (!('losses' in result))
    throw new PosencError(`${recipe.name} is installed in ${folder} but does not work: ${result.failed}`);
  onEvent({ kind: 'done', title, seconds: result.seconds, bytes: 0, checksums: {} });
  return result.backend;
}

/** The record, unless a file of the installation has changed since: then all is made anew. */
async function intact(folder: string, onEvent: (event: InstallEvent) => void): Promise<InstallRecord> {
  const record = readRecord(folder);
  for (const part of Object.values(record.parts)) {
    const file = await damaged(folder, part);
    if (file === undefined) continue;
    onEvent({
      kind: 'note',
      text: `${join(folder, file)} is missing or has changed since it was installed: making it all anew`,
    });
    const { checked: _, ...rest } = record;
    return { ...rest, parts: {} };
  }
  return record;
}

function demand(requirements: readonly Requirement[], name: NativeName, npmFailed?: string): void {
  const lacking = missing(requirements);
  if (lacking.length === 0) return;
  const lines = lacking.map(
    ({ what, reason, command }) => `  ${what}: ${reason}${command ? `. To get it: ${command}` : ''}`,
  );
  const why = npmFailed
    ? `npm’s own download did not work (${npmFailed}), and building it needs more than there is`
    : 'this is missing';
  throw new PosencError(`'${name}' cannot be installed here: ${why}\n${lines.join('\n')}`);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new PosencError(
      `cannot write to ${folder} (${(error as Error).message}): choose another place with --dir or the variable POSENC_HOME`,
    );
  }
}
