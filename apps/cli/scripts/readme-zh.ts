/** Copies what scripts have written into README.md, tables of numbers, into README.zh.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyBlocks } from './blocks.ts';
import { root } from './map/data.ts';

const [from, to] = [join(root, 'README.md'), join(root, 'README.zh.md')];
writeFileSync(to, copyBlocks(readFileSync(from, 'utf8'), readFileSync(to, 'utf8')));
