/** Results that are kept: results/MACHINE-DATE.json. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchDocument, benchSchema } from 'posenc/bench';
import { type Complete, isComplete } from './readme.ts';

const folder = fileURLToPath(new URL('../results', import.meta.url));

/** amd-epyc-2-cores-2026-11-30.json */
export function fileName({ machine: { processor, cores }, date }: BenchDocument): string {
  const slug = processor
    .toLowerCase()
    .replace(/\(r\)|\(tm\)|@.*$|\b(cpu|processor)\b/g, ' ')
    .match(/[a-z0-9]+/g);
  return `${(slug ?? ['unknown']).join('-')}-${cores}-cores-${date.slice(0, 10)}.json`;
}

/** A complete document is kept, and replaces one of the same day; a look, or a part, is not. */
export function save(document: BenchDocument): string {
  if (document.quick || !isComplete(document))
    return 'Not kept: only a run of everything, without --quick, goes into apps/bench/results.';
  const name = fileName(document);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `${JSON.stringify(document, undefined, 1)}\n`);
  return `Kept as apps/bench/results/${name}; "npm run readme:bench" draws the tables of READMEs and docs from the newest.`;
}

/** The newest that is kept, by the date in it. Throws a ZodError when one is not what the schema says. */
export function newest(): Complete {
  const all = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => benchSchema.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))))
    .sort((a, b) => (a.date < b.date ? 1 : -1));
  if (!all[0]) throw new Error('apps/bench/results holds no result yet: run "npm run bench"');
  if (!isComplete(all[0])) throw new Error('the newest result in apps/bench/results lacks a part');
  return all[0];
}
