/** What trials run on: the encodings and tasks known here, the backend, and the versions of all that decides their numbers. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BackendInfo, type BackendName, useBackend } from '@posenc/backend';
import { builtInTasks, createTaskRegistry } from '@posenc/tasks';
import type { Environment } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { loadRegistry } from './config/encoding.ts';
import type { Io } from './io.ts';

/** An environment, and the backend's name and what `auto` chose it for: worker processes are told the name. */
export type Prepared = Environment & { readonly prepared: Pick<BackendInfo, 'name' | 'chosen'> };

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
  const { name, variant, chosen } = info;
  if (chosen) stderr?.write(`${chosen}\n`);
  return {
    encodings: registry,
    tasks: createTaskRegistry(builtInTasks),
    prepared: { name, ...(chosen && { chosen }) },
    backend: [name, variant, info.threads > 1 ? `${info.threads} threads` : ''].filter(Boolean).join(' '),
    versions: {
      ...packageVersions(),
      ...Object.fromEntries(loaded.map(({ specifier, version }) => [specifier, version])),
    },
  };
}

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
