/** Draws the benchmark's blocks in READMEs and docs from the newest result that is kept. */
import { readFileSync, writeFileSync } from 'node:fs';
import { blocks, withBlock } from '../src/readme.ts';
import { newest } from '../src/results.ts';

const document = newest();
for (const { page, name, draw } of blocks) {
  const file = new URL(`../../../${page}`, import.meta.url);
  writeFileSync(file, withBlock(readFileSync(file, 'utf8'), name, draw(document)));
}
