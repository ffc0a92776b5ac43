/**
 * What `auto` means here. Where no native backend is installed: `simd`, at once. Where one is: what a short measurement
 * finds fastest, kept in posenc's data folder until a version, the processor or the number of threads changes.
 *
 * `webgpu` is asked for by name only: `dataSync` does not work on it, so that not every program does.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';
import { dataFolder } from './native/folder.ts';
import { type Sample, sample } from './sample.ts';
import { versionOfSimd } from './simd.ts';
import { findNative } from './tensorflow.ts';
import { defaultThreads } from './threads.ts';

/** Needs no installation. */
const usual = 'simd';
/** What another must be faster by: less is within what a measurement of seconds can tell. */
const clearly = 1.5;
/** A backend whose first losses differ more than this from those of `simd` is not taken. */
const tolerance = 1e-3;

/** What `auto` settled on, and why. */
export interface Choice {
  readonly name: BackendInfo['name'];
  /** One line for people; undefined when there was nothing to choose from. */
  readonly reason?: string;
  readonly measured: readonly Sample[];
  /** When, and where it is kept. */
  readonly date?: string;
  readonly file?: string;
}

type Kept = Readonly<Record<string, { readonly date: string; readonly samples: readonly Sample[] }>>;

/** Decides. Never throws: a cache that cannot be read or written only means measuring anew. */
export async function chooseAuto(threads: number = defaultThreads()): Promise<Choice> {
  const installed = (['tensorflow', 'tensorflow-gpu'] as const).flatMap((name) => {
    const found = findNative(name);
    return found ? [{ name, ...found }] : [];
  });
  if (installed.length === 0) return { name: usual, measured: [] };
  const file = join(dataFolder(), 'measured.json');
  const key = keyOf(installed, threads);
  const kept = read(file);
  let entry = kept[key];
  if (!entry) {
    const samples: Sample[] = [];
    for (const name of [usual, ...installed.map((one) => one.name)] as const)
      samples.push(await sample(name, { threads })); // one after the other: they share the cores
    entry = { date: new Date().toISOString(), samples };
    write(file, { ...kept, [key]: entry });
  }
  return { ...decide(entry.samples), measured: entry.samples, date: entry.date, file };
}

/** The choice from measurements alone. */
export function decide(samples: readonly Sample[]): Pick<Choice, 'name' | 'reason'> {
  const base = samples.find(({ name }) => name === usual);
  if (!base || !('losses' in base)) return { name: usual, reason: `auto is ${usual}: it could not be measured` };
  const faults: string[] = [];
  let best: { name: BackendInfo['name']; ratio: number } = { name: usual, ratio: 1 };
  for (const other of samples) {
    if (!('losses' in other)) {
      faults.push(`${other.name} is installed but fails (${other.failed.split('\n')[0]})`);
      continue;
    }
    if (!other.losses.every((loss, i) => Math.abs(loss - base.losses[i]!) <= tolerance)) {
      faults.push(`${other.name} computes other losses (${other.losses} against ${base.losses})`);
      continue;
    }
    const ratio = base.stepMs / other.stepMs;
    if (ratio > best.ratio) best = { name: other.name, ratio };
  }
  const taken = best.ratio >= clearly ? best.name : usual;
  const why =
    best.name === usual
      ? 'nothing installed is faster'
      : `${best.name} is ${best.ratio.toFixed(1)} times as fast as ${usual} here${taken === usual ? `, not the ${clearly} times that count as clearly` : ''}`;
  return { name: taken, reason: `auto is ${[taken, why].join(': ')}${faults.map((fault) => `; ${fault}`).join('')}` };
}

/** Everything that a measurement depends on, except the load of the moment. */
function keyOf(installed: readonly object[], threads: number): string {
  const facts = {
    tfjs: tf.version['tfjs-core'],
    posenc: versionOfThis(),
    simd: versionOfSimd(),
    node: process.versions.node.split('.')[0],
    processor: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    threads,
    installed,
  };
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
}

function versionOfThis(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}

function read(file: string): Kept {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    return {};
  }
}

function write(file: string, kept: Kept): void {
  const partial = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(partial, `${JSON.stringify(kept, null, 2)}\n`);
    renameSync(partial, file);
  } catch {
    // Read-only: measured again next time.
  }
}
