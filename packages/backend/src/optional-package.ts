/** npm packages that may or may not be there: found from the current directory, then from this package, then where posenc installs. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';
import { BackendUnavailable } from './unavailable.ts';

/** Where a package is; the first place wins. */
export interface Found {
  readonly version: string;
  /** Its package.json. */
  readonly manifest: string;
}

/** Looks from the current directory, from this package, then in `folders`. Loads nothing. */
export function findOptional(name: string, folders: readonly string[] = []): Found | undefined {
  const place = locate(name, folders);
  return place && { version: place.version, manifest: place.manifest };
}

function locate(name: string, folders: readonly string[]): (Found & { readonly require: NodeJS.Require }) | undefined {
  for (const start of [inFolder(process.cwd()), import.meta.url, ...folders.map(inFolder)]) {
    const require = createRequire(start);
    const manifest = resolveManifest(require, name);
    if (manifest) return { require, manifest, version: (require(manifest) as { version: string }).version };
  }
  return undefined;
}

const inFolder = (folder: string) => join(folder, 'package.json');

/** Loads a package; undefined when it is not installed. Throws BackendUnavailable when it is, but cannot be used. */
export function loadOptional(
  backend: BackendInfo['name'],
  name: string,
  { ofTfjs, repair, folders }: { ofTfjs: boolean; repair?: string; folders?: readonly string[] },
): { readonly module: unknown; readonly version: string } | undefined {
  const place = locate(name, folders ?? []);
  if (!place) return undefined;
  const { require, version } = place;
  if (ofTfjs) requireSameVersion(backend, name, version);
  try {
    return { module: withoutWarnings(() => require(name) as unknown), version };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BackendUnavailable(backend, `${name} ${version} is installed but does not load (${why.trim()})`, repair);
  }
}

/** A package beside a tfjs of its own registers every kernel again, and tfjs warns of each: hundreds of lines. */
function withoutWarnings<T>(load: () => T): T {
  const production = tf.env().getBool('PROD');
  tf.env().set('PROD', true);
  try {
    return load();
  } finally {
    tf.env().set('PROD', production);
  }
}

function resolveManifest(require: NodeJS.Require, name: string): string | undefined {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

/** Kernels of one tfjs version under the engine of another fail late and oddly. */
export function requireSameVersion(backend: BackendInfo['name'], name: string, version: string): void {
  const core = tf.version['tfjs-core'];
  if (version === core) return;
  throw new BackendUnavailable(
    backend,
    `${name} ${version} does not match @tensorflow/tfjs-core ${core}: the two must be of one version`,
    installCommand([`${name}@${core}`]),
  );
}

/** How this project installs packages, by the lock file above the current directory. */
export function installCommand(packages: readonly string[], buildScripts: readonly string[] = []): string {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const has = (file: string) => existsSync(join(folder, file));
    if (has('pnpm-lock.yaml')) {
      const workspace = folder === process.cwd() && has('pnpm-workspace.yaml') ? ['-w'] : [];
      const allow = buildScripts.map((name) => `--allow-build=${name}`);
      // A project that pins pnpm as a dependency need not have it on the path.
      const pnpm = has('node_modules/.bin/pnpm') ? 'npx pnpm add' : 'pnpm add';
      return [pnpm, ...workspace, ...allow, ...packages].join(' ');
    }
    if (has('yarn.lock')) return ['yarn add', ...packages].join(' ');
    if (has('bun.lock') || has('bun.lockb')) return ['bun add', ...packages].join(' ');
    if (has('package-lock.json') || folder === dirname(folder)) return ['npm install', ...packages].join(' ');
  }
}
