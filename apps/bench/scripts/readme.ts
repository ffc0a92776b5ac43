/** Draws the benchmark tables of the root README from the newest result that is kept. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tables, withTables } from '../src/readme.ts';
import { newest } from '../src/results.ts';

const readme = fileURLToPath(new URL('../../../README.md', import.meta.url));
writeFileSync(readme, withTables(readFileSync(readme, 'utf8'), tables(newest())));
