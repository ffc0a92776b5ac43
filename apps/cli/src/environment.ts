/** What trials run on: the encodings and tasks known here, the backend, and the versions of all that decides their numbers. */
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BackendInfo, type BackendName, useBackend } from '@posenc/backend';
import { builtInTasks, createTaskRegistry } from '@posenc/tasks';
import type { Environment } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { loadRegistry } from './config/encoding.ts';
import type { Io } from './io.ts';

/** An environment, its backend one that can be asked for by name: worker processes are. */
export type Prepared = Environment & { readonly runtime: { readonly backend: BackendInfo['name'] } };

/**
 * Prepares the backend, with `threads` where it has some, and loads the plug-ins. What `auto` chose among several is said on
 * standard error. Throws PosencError when something cannot be had.
 */
export async function createEnvironment(
  backend: BackendName,
  plugins: readonly string[],
  { cwd, stderr }: Pick<Io, 'cwd'> & Partial<Pick<Io, 'stderr'>>,
  threads?: number,
): Promise<Prepared> {
  tf.enableProdMode(); // no banner, no advice
  const { registry, loaded } = await loadRegistry(plugins, { cwd });
  const info = await useBackend(backend, threads === undefined ? {} : { threads });
  const { name, version, variant, chosen } = info;
  if (chosen) stderr?.write(`${chosen}\n`);
  return {
    encodings: registry,
    tasks: createTaskRegistry(builtInTasks),
    runtime: { backend: name, version, variant, threads: info.threads, processor: processor() },
    versions: {
      ...packageVersions(),
      ...Object.fromEntries(loaded.map(({ specifier, version }) => [specifier, version])),
    },
  };
}

/** The model of the processor, as the system calls it. */
export const processor = (): string => cpus()[0]?.model.trim() || 'unknown';

/** Versions of posenc's own packages and of TensorFlow.js. */
export function packageVersions(): Record<string, string> {
  const own = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const names = Object.keys(own.dependencies).filter((name) => name.startsWith('@posenc/'));
  const versions = names.map((name) => [name, versionOf(fileURLToPath(import.meta.resolve(name)))]);
  return { ...Object.fromEntries(versions), '@tensorflow/tfjs': tf.version['tfjs-core'] };
}

/** The version in the package.json above a module. */
function versionOf(path: string): string {
  const file = join(dirname(path), 'package.json');
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  return versionOf(dirname(path));
}
