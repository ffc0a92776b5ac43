/** Encodings of others: loaded from a file or a package, checked, and put beside the built-in ones. */
import { statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fileError } from '@posenc/checkpoints';
import { type AnyEncoding, PosencError } from '@posenc/core';
import { checkContract, resemblesEncoding } from './plugins/check.ts';
import { packageAddress, resolvedPackages, resolveFromPosenc } from './plugins/resolve.ts';
import { digestOf, versionAbove } from './plugins/version.ts';
import { whyNot } from './plugins/why-not.ts';
import { packageOfType } from './plugins/workspace.ts';

/** An encoding from outside, and where it came from. */
export interface LoadedEncoding {
  readonly plugin: AnyEncoding;
  /** What the user wrote. */
  readonly specifier: string;
  /** The module it came from. */
  readonly url: string;
  /** Of the package; of a file, which has none, a digest of its content. */
  readonly version: string;
}

/** True for the path of a module: `mine.ts`, `./mine.js`, `/home/me/mine.mjs`. */
export const isModulePath = (specifier: string): boolean => /\.[cm]?[jt]s$/.test(specifier);

/**
 * Imports modules and returns every encoding they export, each once. A specifier is a path to a .ts, .js, .mts or .mjs file
 * (relative to `cwd`) or the name of a package installed for `cwd` or beside posenc, without `@posenc/` if need be.
 * @throws PosencError when a module cannot be found or run, exports no encoding, or exports one that breaks the contract
 */
export async function loadEncodings(specifiers: readonly string[], cwd: string): Promise<LoadedEncoding[]> {
  const loaded: LoadedEncoding[] = [];
  for (const specifier of new Set(specifiers)) {
    const { url, version, exports } = await importModule(specifier, cwd);
    const found = Object.entries(exports).filter(([, value]) => resemblesEncoding(value));
    if (found.length === 0)
      throw new PosencError(`${specifier} exports no encoding: ${whatInstead(Object.keys(exports))}`);
    for (const plugin of new Set(found.map(([name, value]) => checkContract(value, `${specifier}, export "${name}"`))))
      if (!loaded.some((other) => other.plugin === plugin)) loaded.push({ plugin, specifier, url, version });
  }
  for (const one of loaded) everLoaded.add(one);
  return loaded;
}

const whatInstead = (names: readonly string[]) =>
  `${names.length ? `its exports are ${names.join(', ')}` : 'it has no exports'}. Write: export const mine = defineEncoding({ contract: 1, type: 'mine', … })`;

interface Imported {
  readonly url: string;
  readonly version: string;
  readonly exports: Record<string, unknown>;
}

async function importModule(specifier: string, cwd: string): Promise<Imported> {
  resolveFromPosenc();
  if (!isModulePath(specifier) && !/^\.{0,2}[\\/]/.test(specifier)) return importPackage(specifier, cwd);
  const path = resolve(cwd, specifier);
  try {
    if (!statSync(path).isFile())
      throw new PosencError(`${specifier} is a folder; name the .ts or .js file that exports the encoding`);
  } catch (error) {
    throw fileError(error, 'load', specifier);
  }
  const url = pathToFileURL(path).href;
  try {
    const exports = await import(/* @vite-ignore */ url);
    return { url, version: digestOf(path), exports };
  } catch (error) {
    throw new PosencError(`cannot load ${specifier}: ${whyNot(error, path, cwd)}`, { cause: error });
  }
}

async function importPackage(name: string, cwd: string): Promise<Imported> {
  if (isBuiltin(name)) throw new PosencError(`"${name}" is a part of Node.js, not an encoding`);
  for (const candidate of [name, packageOfType(name, cwd)].filter((c) => c !== undefined))
    try {
      const exports = await import(/* @vite-ignore */ packageAddress(candidate, cwd));
      const url = resolvedPackages.get(candidate)!;
      return { url, version: versionAbove(fileURLToPath(url)), exports };
    } catch (error) {
      const missing =
        (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' && String(error).includes(`'${candidate}'`);
      if (!missing)
        throw new PosencError(`cannot load the package ${candidate}: ${whyNot(error, undefined, cwd)}`, {
          cause: error,
        });
    }
  throw new PosencError(
    `no package called "${name}" is installed for ${cwd}: npm install ${name}, or give a path such as ./${name}.ts`,
  );
}

/**
 * The message for an unexpected error that comes out of a plug-in loaded in this process, judged by its stack: its author wants
 * to know where. Undefined when no plug-in is involved.
 */
export function blame(error: unknown, cwd: string): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined;
  const guilty = [...everLoaded].find(({ url }) => error.stack!.includes(url));
  if (!guilty) return undefined;
  const frame = error.stack.split('\n').find((line) => line.includes(guilty.url))!;
  const place = frame.trim().replace(pathToFileURL(join(cwd, '/')).href, '');
  return `the encoding "${guilty.plugin.type}" from ${guilty.specifier} failed: ${error.name}: ${error.message}\n  ${place}`;
}

/** Modules stay loaded as long as the process, and so does who brought them. */
const everLoaded = new Set<LoadedEncoding>();
