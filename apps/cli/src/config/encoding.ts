/** From what a user writes for an encoding to a parsed config and the registry that knows it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type EncodingConfig, notBuilt, PosencError, type Registry, suggest } from '@posenc/core';
import { registryWith } from '../encodings.ts';
import type { Io } from '../io.ts';
import { withNamed } from '../plugins/named.ts';
import { packageOfType } from '../plugins/workspace.ts';
import { isModulePath, type LoadedEncoding, loadEncodings } from '../plugins.ts';
import { parseJson } from './json.ts';
import { readJson } from './read.ts';

export interface Given {
  readonly config: EncodingConfig;
  readonly registry: Registry;
  readonly loaded: readonly LoadedEncoding[];
}

const algebra = ['compose', 'perLayer'];

/**
 * Reads an encoding: a type (`rope`), JSON (`{"type":"rope"}`), a JSON file, `-` for JSON on standard input, or a module or
 * package that exports one encoding (`./mine.ts`). Throws PosencError when it is none of these or its config is wrong.
 */
export async function readEncoding(spec: string, plugins: readonly string[], io: Io): Promise<Given> {
  const given = async (value: unknown, where: string): Promise<Given> => {
    const { loaded, registry } = await loadRegistry(await withNamed(plugins, { encoding: value }, io), io);
    return { config: registry.parse(value, where), registry, loaded };
  };
  const types = [...(await loadRegistry(plugins, io)).registry.plugins.map((p) => p.type), ...algebra];

  if (spec.trim() === '')
    throw new PosencError(`the encoding is empty: give one of ${types.join(', ')}, JSON, or a file`);
  if (/^\s*[{["]/.test(spec)) return given(parseJson(spec, 'CONFIG'), 'CONFIG');
  if (types.includes(spec) || packageOfType(spec, io.cwd)) return given({ type: spec }, spec);
  if (isModulePath(spec)) return readModule(spec, plugins, io);
  if (spec === '-') return given(await readJson(spec, io), 'standard input');
  const canBePackage = /^(@[\w.-]+\/)?[\w.-]+$/.test(spec);
  if (spec.endsWith('.json') || existsSync(resolve(io.cwd, spec)) || (!canBePackage && /[\\/]/.test(spec)))
    return given(await readJson(spec, io), spec);
  try {
    if (!canBePackage) throw new PosencError('no package has such a name');
    return await readModule(spec, plugins, io);
  } catch (error) {
    if (!(error instanceof PosencError) || !error.message.startsWith('no package')) throw error;
    const why = notBuilt(spec, (await loadRegistry(plugins, io)).registry.plugins);
    const nearest = why ?? suggest(spec, types);
    throw new PosencError(
      `no encoding is called "${spec}"${why || nearest.startsWith('did') ? `: ${nearest}` : ''}\n` +
        `  known: ${types.join(', ')}; or give JSON, a .json file, a .ts or .js file, or an installed package`,
      { cause: error },
    );
  }
}

/** The built-in encodings and those of the plug-ins. Throws PosencError as `loadEncodings` does, or when a type is taken. */
export async function loadRegistry(
  plugins: readonly string[],
  io: Pick<Io, 'cwd'>,
): Promise<{ registry: Registry; loaded: readonly LoadedEncoding[] }> {
  const loaded = await loadEncodings(plugins, io.cwd);
  loaded.forEach(({ plugin: { type }, specifier }, i) => {
    const builtIn = registryWith().plugins.some((p) => p.type === type);
    const other = loaded.slice(0, i).find((l) => l.plugin.type === type);
    if (builtIn || algebra.includes(type) || other)
      throw new PosencError(
        `${specifier}: the type "${type}" is taken by ${other ? other.specifier : 'a built-in encoding'}: choose another name`,
      );
  });
  return { registry: registryWith(loaded.map((l) => l.plugin)), loaded };
}

async function readModule(spec: string, plugins: readonly string[], io: Io): Promise<Given> {
  const own = await loadEncodings([spec], io.cwd);
  const { registry, loaded } = await loadRegistry([...plugins, spec], io);
  const types = own.map(({ plugin }) => plugin.type);
  if (types.length > 1)
    throw new PosencError(
      `${spec} exports ${types.length} encodings: say which one, for example --plugin ${spec} ${types[0]}`,
    );
  return { registry, loaded, config: registry.parse({ type: types[0] }, spec) };
}
