/** A new encoding in a clone of posenc's repository: a package like its siblings, which nothing else has to name. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PosencError } from '@posenc/core';
import { toJson } from '../ui/json.ts';
import { type Files, filled, folderWith } from './files.ts';
import type { Names } from './names.ts';

/** The package that fills no hole has the least in it that is its own, so its settings are those of any. */
const sibling = join('packages', 'encodings', 'nope');
const asTheyAre = ['LICENSE', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts', 'test/readme.test.ts'];
/** Where it goes in the package ← which template. */
const templates = (type: string) => ({
  [`src/${type}.ts`]: 'package/src/my-encoding.ts',
  'src/index.ts': 'package/src/index.ts',
  'test/laws.test.ts': 'package/test/laws.test.ts',
  'test/golden.test.ts': 'package/test/golden.test.ts',
  [`golden/${type}.json`]: 'package/golden/my-encoding.json',
  'golden/README.md': 'package/golden/README.md',
  'README.md': 'package/README.md',
});

/** The clone that a folder lies in. */
export function cloneAround(folder: string): string | undefined {
  const top = folderWith('pnpm-workspace.yaml', folder);
  if (top === undefined || existsSync(join(top, sibling, 'package.json'))) return top;
  return cloneAround(dirname(top));
}

/** The files of the package, its changeset, and which file the encoding is in. Throws PosencError when the workspace has a package of that name. */
export function packageFiles(clone: string, names: Names): { files: Files; path: string } {
  const { type, title } = names;
  const folder = join(clone, 'packages', 'encodings', type);
  const taken = [folder, join(clone, 'packages', type), join(clone, 'apps', type)].find((path) => existsSync(path));
  if (taken) throw new PosencError(`"${type}" is taken by ${relative(clone, taken)}: choose another name`);
  const read = (name: string) => readFileSync(join(clone, sibling, name), 'utf8');
  const manifest = JSON.parse(read('package.json')) as { keywords?: string[] };
  const own = {
    ...manifest,
    name: `@posenc/${type}`,
    version: '0.0.0',
    description: `${title}, a positional encoding.`,
    keywords: manifest.keywords?.map((word) => (word === 'nope' ? type : word)),
  };
  const files = {
    [join(folder, 'package.json')]: toJson(own),
    ...Object.fromEntries(asTheyAre.map((name) => [join(folder, name), read(name)])),
    ...Object.fromEntries(
      Object.entries(templates(type)).map(([name, template]) => [join(folder, name), filled(template, names)]),
    ),
    [join(clone, '.changeset', `${type}.md`)]: filled('package/changeset.md', names),
  };
  return { files, path: join(folder, 'src', `${type}.ts`) };
}
