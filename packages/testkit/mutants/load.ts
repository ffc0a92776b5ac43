/** Compiles an edited copy of an encoding's source on the fly. The copy lives in this package, where its imports resolve. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AnyEncoding } from '@posenc/core';
import type { Edit, Mutant } from './mutant.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

/** The plug-in of a package, with edits (none: a fresh copy of the original). Throws Error when an edit no longer applies. */
export async function loadEdited(
  encoding: string,
  edits: readonly Edit[] = [],
  helpers: string = '',
): Promise<AnyEncoding> {
  const source = join(here, '../../encodings', encoding, 'src');
  await mkdir(join(here, 'build'), { recursive: true });
  const copy = await mkdtemp(join(here, 'build', `${encoding}-`));
  try {
    await cp(source, copy, { recursive: true });
    for (const [i, { file, find, replace }] of edits.entries()) {
      const path = join(copy, file);
      const text = await readFile(path, 'utf8');
      const places = text.split(find).length - 1;
      if (places !== 1)
        throw new Error(`${encoding}/src/${file} holds ${places} times, not once, the text to edit:\n${find}`);
      await writeFile(path, text.replace(find, () => replace) + (i === 0 ? helpers : ''));
    }
    const loaded: Record<string, AnyEncoding> = await import(
      /* @vite-ignore */ pathToFileURL(join(copy, 'index.ts')).href
    );
    const plugin = Object.values(loaded).find((exported) => exported?.type === encoding);
    if (!plugin) throw new Error(`${encoding}/src/index.ts exports no encoding "${encoding}"`);
    return plugin;
  } finally {
    await rm(copy, { recursive: true });
  }
}

export const loadMutant = ({ encoding, edits, helpers }: Mutant): Promise<AnyEncoding> =>
  loadEdited(encoding, edits, helpers);
