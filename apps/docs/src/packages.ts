/** The packages of this repository, found where the workspace has them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

export interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
}

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The JSON value in a file of the repository or of a copy of it. */
export const readJson = <T>(...path: string[]): T => JSON.parse(readFileSync(join(...path), 'utf8')) as T;

/** Every package below `top`, private ones too, as pnpm-workspace.yaml lists their folders. */
export const allPackages = (top = root): Package[] =>
  ['packages', 'packages/encodings', 'apps']
    .flatMap((parent) => readdirSync(join(top, parent)).map((name) => join(top, parent, name)))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readJson<Manifest>(folder, 'package.json') }));

/** Those that are published. */
export const publicPackages = (top = root): Package[] => allPackages(top).filter(({ manifest }) => !manifest.private);

/** `@posenc/core` → `core`, the name of its page in the reference. */
export const shortName = (name: string): string => name.replace('@posenc/', '');

/** The source files behind its exports. */
export const entriesOf = ({ folder, manifest }: Package): string[] =>
  Object.values(manifest.exports as Record<string, { 'posenc-source': string }>).map((targets) =>
    join(folder, targets['posenc-source']),
  );
