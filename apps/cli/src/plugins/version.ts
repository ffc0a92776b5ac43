/** What a plug-in is known by in the records of a run. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** For a file, which has no version. */
export const digestOf = (path: string): string =>
  `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)}`;

/** The version in the nearest package.json that has one. */
export function versionAbove(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    const version =
      existsSync(manifest) && (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version;
    if (version) return version;
    if (folder === dirname(folder)) return digestOf(path);
  }
}
