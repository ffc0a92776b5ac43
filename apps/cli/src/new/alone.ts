/** A new encoding anywhere else: one file and one test, and a package.json where there is none. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileError } from '@posenc/checkpoints';
import { parseConfig, z } from '@posenc/core';
import { parseJson } from '../config/json.ts';
import { versionAbove } from '../plugins/version.ts';
import { toJson } from '../ui/json.ts';
import { quoted } from '../ui/shell.ts';
import { type Files, filled, folderWith } from './files.ts';
import type { Names } from './names.ts';

/** What the file imports, and what its test does. */
const needed = { run: ['@posenc/core', '@tensorflow/tfjs'], test: ['@posenc/backend', '@posenc/testkit'] };

const packages = z.record(z.string(), z.string()).optional();
const manifestSchema = z.looseObject({
  type: z.string().optional(),
  dependencies: packages,
  devDependencies: packages,
  peerDependencies: packages,
});

export interface Alone {
  readonly files: Files;
  /** The file with the encoding. */
  readonly path: string;
  readonly test: string;
  /** The commands that install what the project lacks. */
  readonly install: readonly string[];
}

/**
 * The files for a folder. Where package.json does not say that .js is ESM, they are .mts, which is ESM everywhere.
 * Throws PosencError when the nearest package.json cannot be read.
 */
export function filesAlone(folder: string, names: Names, cwd: string): Alone {
  const project = folderWith('package.json', folder);
  const manifest = project === undefined ? undefined : readManifest(join(project, 'package.json'), cwd);
  const extension = manifest === undefined || manifest.type === 'module' ? 'ts' : 'mts';
  const [path, test] = [`${names.type}.${extension}`, `${names.type}.test.${extension}`].map((f) => join(folder, f));
  const files = {
    [path!]: filled('package/src/my-encoding.ts', names),
    [test!]: filled('alone/my-encoding.test.ts', names).replace(`./${names.type}.ts`, `./${names.type}.${extension}`),
    ...(manifest === undefined && { [join(folder, 'package.json')]: toJson(freshManifest(`${names.type}.test.ts`)) }),
  };
  const lacking = manifest === undefined ? [['npm install']] : missing(manifest);
  // npm looks for package.json from here upward; one further down it has to be told of.
  const below = relative(cwd, project ?? folder);
  const prefix = below === '' || below.startsWith('..') ? [] : ['--prefix', quoted(below)];
  return { files, path: path!, test: test!, install: lacking.map((words) => [...words, ...prefix].join(' ')) };
}

function readManifest(path: string, cwd: string): z.infer<typeof manifestSchema> {
  const where = relative(cwd, path);
  try {
    return parseConfig(manifestSchema, parseJson(readFileSync(path, 'utf8'), where), where);
  } catch (error) {
    throw fileError(error, 'read', where);
  }
}

const freshManifest = (test: string) => ({
  private: true,
  type: 'module',
  scripts: { test: `node --test ${test}` },
  dependencies: Object.fromEntries(needed.run.map((name) => [name, rangeOf(name)])),
  devDependencies: Object.fromEntries(needed.test.map((name) => [name, rangeOf(name)])),
});

/** The words of the commands that add what a project lacks. */
function missing(manifest: z.infer<typeof manifestSchema>): string[][] {
  const there = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies };
  const lacking = (names: readonly string[]) =>
    names.filter((name) => !(name in there)).map((name) => `${name}@${rangeOf(name)}`);
  return [
    ['npm install', ...lacking(needed.run)],
    ['npm install --save-dev', ...lacking(needed.test)],
  ].filter(({ length }) => length > 1);
}

/** The versions this posenc works with. */
const rangeOf = (name: string): string => `^${versionAbove(fileURLToPath(import.meta.resolve(name))).split(' ')[0]}`;
