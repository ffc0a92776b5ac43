/** Files of a new encoding: templates with names put in, written where nothing stands yet. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileError } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import { makeFolder } from '../config/folder.ts';
import type { Names } from './names.ts';

/** Files to write, by absolute path. */
export type Files = Readonly<Record<string, string>>;

const folder = new URL('../../templates/', import.meta.url);
const read = (template: string) => readFileSync(new URL(template, folder), 'utf8');

/** A file of templates/ with the names of this encoding in place of those of the example. */
export function filled(template: string, { type, constant, pascal, title }: Names): string {
  return read(template)
    .replaceAll('my-encoding', type)
    .replaceAll('myEncoding', constant)
    .replaceAll('MyEncoding', pascal)
    .replaceAll('My encoding', title);
}

/** True for a word of the code in templates/; of its comments and strings, any word may be used again. */
export function isUsed(word: string): boolean {
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(name).replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'/gm, ''));
  return new RegExp(`\\b${word}\\b`).test(code.join('\n'));
}

/** Writes all of them or none, and never over anything. Throws PosencError when one is there already, or cannot be written. */
export function writeNew(files: Files, cwd: string): void {
  const there = Object.keys(files).filter((path) => existsSync(path));
  const shown = there.map((path) => relative(cwd, path)).join(' and ');
  if (there.length) throw new PosencError(`${shown} would be overwritten: choose another name, or move what is there`);
  const written: string[] = [];
  try {
    for (const [path, content] of Object.entries(files)) {
      makeFolder(dirname(path));
      writeFileSync(path, content, { flag: 'wx' });
      written.push(path);
    }
  } catch (error) {
    for (const path of written) rmSync(path);
    throw fileError(error, 'write into', relative(cwd, dirname(Object.keys(files)[0]!)) || '.');
  }
}

/** The nearest folder, this one or above it, that holds such a file. */
export function folderWith(name: string, folder: string): string | undefined {
  if (existsSync(join(folder, name))) return folder;
  return dirname(folder) === folder ? undefined : folderWith(name, dirname(folder));
}
