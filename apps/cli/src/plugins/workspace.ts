/** In a clone of posenc's repository every package in packages/encodings is known to posenc, without being named anywhere. */
import { existsSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of this package: apps/cli in a clone, node_modules/posenc elsewhere. */
const own = fileURLToPath(new URL('../../', import.meta.url));
const clone = join(own, '..', '..');
const encodings = join(clone, 'packages', 'encodings');
const inClone = own === join(clone, 'apps', 'cli', sep) && existsSync(join(clone, 'pnpm-workspace.yaml'));

/** Folders by name of the package, which is that of the folder; none where posenc is installed. */
export function workspaceEncodings(): ReadonlyMap<string, string> {
  const folders = inClone
    ? readdirSync(encodings).filter((name) => existsSync(join(encodings, name, 'package.json')))
    : [];
  return new Map(folders.map((name) => [`@posenc/${name}`, join(encodings, name)]));
}

/** The package that a type of an encoding is looked for in: installed for `cwd`, or in the clone. Undefined when neither has it. */
export function packageOfType(type: string, cwd: string): string | undefined {
  const name = `@posenc/${type}`;
  const installed = (folder: string): boolean =>
    existsSync(join(folder, 'node_modules', name, 'package.json')) ||
    (join(folder, '..') !== folder && installed(join(folder, '..')));
  return /^[\w-]+$/.test(type) && (installed(cwd) || workspaceEncodings().has(name)) ? name : undefined;
}
