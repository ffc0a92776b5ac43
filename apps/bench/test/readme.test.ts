/** The README says what the newest result says. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BenchDocument, benchSchema } from 'posenc/bench';
import { describe, expect, it } from 'vitest';
import { tables, tablesIn, withTables } from '../src/readme.ts';
import { fileName, newest, save } from '../src/results.ts';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const folder = fileURLToPath(new URL('../results', import.meta.url));

describe('the benchmark tables of the README', () => {
  it('are those of the newest result', () => {
    expect(tablesIn(readme)).toBe(tables(newest()));
  });

  it('change with the result and leave the rest of the page alone', () => {
    const page = 'a\n<!-- bench tables: start -->\nold\n<!-- bench tables: end -->\nb $& $1\n';
    const changed = withTables(page, 'new $& $1');
    expect(changed).toBe('a\n<!-- bench tables: start -->\nnew $& $1\n<!-- bench tables: end -->\nb $& $1\n');
    expect(tablesIn(changed)).toBe('new $& $1');
    expect(() => tablesIn('no markers')).toThrow(/no markers/);
  });

  it('say that other work was going on exactly when it was', () => {
    const document = newest();
    const at = (median: number): BenchDocument => ({
      ...document,
      machine: { ...document.machine, otherCores: { median, min: 0, max: 2, n: 9 } },
    });
    expect(tables(at(1.4))).toContain('**Measured under load**: other processes kept 1.4 of');
    expect(tables(at(0.1))).not.toContain('under load');
  });
});

describe('results', () => {
  it('are complete, and named after their machine and day', () => {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const document = benchSchema.parse(JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')));
      expect(fileName(document)).toBe(name);
      expect(document.quick).toBe(false);
      expect(document.encodings!.rows.length).toBeGreaterThan(10);
      const rivals = document.standardStep!.contenders.filter(({ kind }) => kind === 'rival');
      expect(new Set(rivals.map((rival) => rival.name)).size).toBeGreaterThanOrEqual(4);
    }
  });

  it('of a look or of a part are not kept', () => {
    const before = readdirSync(folder);
    expect(save({ ...newest(), quick: true })).toMatch(/^Not kept/);
    expect(save({ ...newest(), encodings: null })).toMatch(/^Not kept/);
    expect(readdirSync(folder)).toEqual(before);
  });
});
