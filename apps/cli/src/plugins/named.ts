/** Encodings that a config, a run or a suite names, and posenc does not bring. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtIn } from '../encodings.ts';
import type { Io } from '../io.ts';
import { loadEncodings } from '../plugins.ts';
import { packageOfType } from './workspace.ts';

/**
 * The plug-ins given, and after them the packages `@posenc/TYPE` of types that stand under "encoding" in `document`, are neither
 * built in nor brought by a plug-in given, and can be found.
 */
export async function withNamed(
  plugins: readonly string[],
  document: unknown,
  { cwd }: Pick<Io, 'cwd'>,
): Promise<string[]> {
  const given = await loadEncodings(plugins, cwd);
  const known = new Set([...builtIn, ...given.map(({ plugin }) => plugin)].map(({ type }): string => type));
  const unknown = [...new Set(typesIn(document))].filter((type) => !known.has(type));
  return [...plugins, ...unknown.map((type) => packageOfType(type, cwd)).filter((name) => name !== undefined)];
}

/** What a trained run was made from, to look for the types in it. Undefined when it cannot be read: loading it says why. */
export function trialDocument(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, 'trial.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** The types in a document: of every encoding in it, and of the members of those. */
function typesIn(value: unknown, isEncoding = false): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => typesIn(item, isEncoding));
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, v]) =>
    typesIn(v, key === 'encoding' || (isEncoding && key === 'of')),
  );
  return isEncoding && 'type' in value && typeof value.type === 'string' ? [value.type, ...inside] : inside;
}
