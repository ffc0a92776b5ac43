/** Encodings of others: loaded from a file or a package, checked, and put beside the built-in ones. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin, registerHooks } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fileError } from '@posenc/checkpoints';
import { type AnyEncoding, PosencError } from '@posenc/core';

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
 * (relative to `cwd`) or the name of a package installed for `cwd` or beside posenc.
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
  const address = `${packageScheme}${pathToFileURL(join(cwd, 'posenc')).href}#${name}`;
  try {
    const exports = await import(/* @vite-ignore */ address);
    const url = resolvedPackages.get(name)!;
    return { url, version: versionAbove(fileURLToPath(url)), exports };
  } catch (error) {
    const missing =
      (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' && String(error).includes(`'${name}'`);
    if (missing)
      throw new PosencError(
        `no package called "${name}" is installed for ${cwd}: npm install ${name}, or give a path such as ./${name}.ts`,
        { cause: error },
      );
    throw new PosencError(`cannot load the package ${name}: ${whyNot(error, undefined, cwd)}`, { cause: error });
  }
}

const packageScheme = 'posenc-package:';
/** Where packages named on the command line were found. */
const resolvedPackages = new Map<string, string>();
let resolving = false;

/**
 * Two rules of resolution: a package named on the command line is looked up from the user's folder, then from posenc's; and a
 * plug-in that lives anywhere, alone, finds posenc's own @posenc/core and TensorFlow.js (one copy for all, as tensors need).
 */
function resolveFromPosenc(): void {
  if (resolving) return;
  resolving = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith(packageScheme)) {
        const [parentURL, name] = specifier.slice(packageScheme.length).split('#') as [string, string];
        const from = (parent: string) => next(name, { ...context, parentURL: parent });
        const found = firstOf(
          () => from(parentURL),
          () => from(import.meta.url),
        );
        resolvedPackages.set(name, found.url);
        return found;
      }
      if (!/^@(posenc|tensorflow)\//.test(specifier)) return next(specifier, context);
      return firstOf(
        () => next(specifier, context),
        () => next(specifier, { ...context, parentURL: import.meta.url }),
      );
    },
  });
}

/** The second if the first finds no such module. */
function firstOf<T>(first: () => T, second: () => T): T {
  try {
    return first();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return second();
  }
}

const digestOf = (path: string): string =>
  `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)}`;

/** The version in the nearest package.json that has one. */
function versionAbove(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    const version =
      existsSync(manifest) && (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
    if (version) return version;
    if (folder === dirname(folder)) return digestOf(path);
  }
}

/** Why a module could not be run: Node's message, the place in the file, and what helps. */
function whyNot(error: unknown, path: string | undefined, cwd: string): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const hints: Record<string, string> = {
    ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX:
      'Node.js runs TypeScript by erasing its types: no enum, namespace or parameter property',
    ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING:
      'Node.js runs no TypeScript inside node_modules: the package must ship JavaScript',
    ERR_MODULE_NOT_FOUND:
      'install what is missing (npm install), or correct the import; a relative import needs its file extension',
  };
  const module = /import statement outside a module|Unexpected token 'export'/.test(error.message);
  const hint =
    code && hints[code]
      ? hints[code]
      : module && 'it is read as CommonJS: name it .mts or .mjs, or set "type": "module" in package.json';
  const place = error instanceof SyntaxError ? syntaxPlace(error, path) : frameOf(error, cwd);
  return [`${error.name}: ${error.message.trim()}`, place, hint && `  ${hint}`].filter(Boolean).join('\n');
}

/** File, line and the code in question. Node keeps them at the head of the stack, or tells `node --check`. */
function syntaxPlace(error: Error, path: string | undefined): string | undefined {
  const head = (text: string) => text.split(/\n\s*\n|\n\s+at |\nSyntaxError/)[0]!;
  const stack = error.stack ?? '';
  if (/^\S+:\d+\n/.test(stack)) return head(stack).replace(/^/gm, '  ');
  if (path === undefined || !/\.m?js$/.test(path)) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  return /^\S.*:\d+\n/.test(stderr) ? head(stderr).replace(/^/gm, '  ') : undefined;
}

/** The first line of a stack that lies in the user's own code. */
export function frameOf(error: Error, cwd: string): string | undefined {
  const frame = (error.stack ?? '')
    .split('\n')
    .find((line) => /^\s+at .*file:\/\/|^\s+at .*\(?\//.test(line) && !line.includes('node:'));
  return (
    frame &&
    `  ${frame
      .trim()
      .replace(pathToFileURL(join(cwd, '/')).href, '')
      .replace('file://', '')}`
  );
}

function resemblesEncoding(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && ('contract' in value || ('type' in value && 'create' in value));
}

/** What every encoding must have; the compiler tells authors who use defineEncoding, this tells the others. */
function checkContract(value: unknown, where: string): AnyEncoding {
  const e = value as Record<string, unknown>;
  if (e.contract !== 1)
    throw new PosencError(
      `${where}: it is written for contract ${JSON.stringify(e.contract)}, and this posenc speaks contract 1: ` +
        `${typeof e.contract === 'number' && e.contract > 1 ? 'update posenc' : 'set contract: 1'}`,
    );
  const isText = (v: unknown) => typeof v === 'string' && v.trim() !== '';
  const problems = [
    !(typeof e.type === 'string' && /^[\w-]+$/.test(e.type)) && 'type must be a name of letters, digits, - and _',
    !isText(e.reference) && 'reference must say where the encoding comes from (paper, year, link)',
    !isText(e.equation) && 'equation must be one line of text',
    !(Array.isArray(e.notes) && e.notes.every(isText)) && 'notes must be a list of texts (it may be empty)',
    !(typeof e.config === 'object' && e.config !== null && '_zod' in e.config) &&
      "config must be a zod 4 schema: import { z } from '@posenc/core', then z.strictObject({ … })",
    typeof e.create !== 'function' && 'create must be a function (config, dims) → encoding',
    e.tables !== undefined && typeof e.tables !== 'function' && 'tables must be a function, if there is one',
  ].filter((p) => p !== false);
  if (problems.length)
    throw new PosencError(`${where} is not a complete encoding:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
  return value as AnyEncoding;
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
