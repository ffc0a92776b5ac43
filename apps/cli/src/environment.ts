/** What trials run on: the encodings and tasks known here, the backend, and the versions of all that decides their numbers. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BackendName, useBackend } from '@posenc/backend';
import { builtInTasks, createTaskRegistry } from '@posenc/tasks';
import type { Environment } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { loadRegistry } from './config/encoding.ts';
import type { Io } from './io.ts';

/** Prepares the backend and loads the plug-ins. Throws PosencError when either cannot be had. */
export async function createEnvironment(
  backend: BackendName,
  plugins: readonly string[],
  { cwd }: Pick<Io, 'cwd'>,
): Promise<Environment> {
  tf.enableProdMode(); // no banner, no advice
  const { registry, loaded } = await loadRegistry(plugins, { cwd });
  const { name, variant, threads } = await useBackend(backend);
  return {
    encodings: registry,
    tasks: createTaskRegistry(builtInTasks),
    backend: [name, variant, threads > 1 ? `${threads} threads` : ''].filter(Boolean).join(' '),
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
