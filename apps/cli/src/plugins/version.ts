/** What a plug-in is known by in the records of a run. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** For a file, which has no version. */
export const digestOf = (...paths: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(path));
  return `sha256:${hash.digest('hex').slice(0, 16)}`;
};

/**
 * The version in the nearest package.json that has one. TypeScript is not what was published under that version but work in
 * progress, so a digest of the sources beside it is added: results of an earlier state are then seen to be stale.
 */
export function versionAbove(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    const version =
      existsSync(manifest) && (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
    if (version) return /\.[cm]?ts$/.test(path) ? `${version} ${digestOf(...sourcesIn(dirname(path)))}` : version;
    if (folder === dirname(folder)) return digestOf(path);
  }
}

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?ts$/.test(name))
    .sort()
    .map((name) => join(folder, name));
