/** Pages say what the newest result says. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchSchema } from 'posenc/bench';
import { describe, expect, it } from 'vitest';
import { blockIn, blocks, type Complete, isComplete, withBlock } from '../src/readme.ts';
import { fileName, newest, save } from '../src/results.ts';

const pageAt = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const folder = fileURLToPath(new URL('../results', import.meta.url));
const overview = blocks.find(({ page }) => page === 'README.md')!;

describe('the benchmark tables', () => {
  it.each(blocks)('of $page are those of the newest result', ({ page, name, draw }) => {
    expect(blockIn(pageAt(page), name)).toBe(draw(newest()));
  });

  it('are all that pages have', () => {
    const marked = [...new Set(blocks.map(({ page }) => page))].flatMap((page) =>
      [...pageAt(page).matchAll(/<!-- bench (\w+): start -->/g)].map(([, name]) => ({ page, name })),
    );
    expect(marked).toEqual(blocks.map(({ page, name }) => ({ page, name })));
  });

  it('change with the result and leave the rest of the page alone', () => {
    const page = 'a\n<!-- bench x: start -->\nold\n<!-- bench x: end -->\nb $& $1\n';
    const changed = withBlock(page, 'x', 'new $& $1');
    expect(changed).toBe('a\n<!-- bench x: start -->\nnew $& $1\n<!-- bench x: end -->\nb $& $1\n');
    expect(blockIn(changed, 'x')).toBe('new $& $1');
    expect(() => withBlock(page, 'y', '')).toThrow(/no markers/);
  });

  it('follow every number that is measured', () => {
    const document = newest();
    const doubled = JSON.parse(JSON.stringify(document), (key, value) => {
      const measured =
        ['median', 'min', 'max', 'outside'].includes(key) || (key === 'seconds' && typeof value === 'number');
      return measured ? 2 * value : value;
    }) as Complete;
    for (const { page, draw } of blocks) expect([page, draw(doubled) === draw(document)]).toEqual([page, false]);
  });

  it('say that other work was going on exactly when it was', () => {
    const document = newest();
    const at = (median: number): Complete => ({
      ...document,
      machine: { ...document.machine, otherCores: { median, min: 0, max: 2, n: 9 } },
    });
    for (const { draw } of blocks) {
      expect(draw(at(1.4))).toContain('**Measured under load**: other processes kept 1.4 of');
      expect(draw(at(0.1))).not.toContain('under load');
    }
    expect(overview.draw({ ...document, environment: { POSENC_THREADS: '1' } })).toContain('`POSENC_THREADS=1`');
  });
});

describe('results', () => {
  it('are complete, and named after their machine and day', () => {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const document = benchSchema.parse(JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')));
      expect(fileName(document)).toBe(name);
      expect({ quick: document.quick, complete: isComplete(document) }).toEqual({ quick: false, complete: true });
      expect(document.encodings!.rows.length).toBeGreaterThan(10);
      const rivals = document.standardStep!.contenders.filter(({ kind }) => kind === 'rival');
      expect(new Set(rivals.map((rival) => rival.name)).size).toBeGreaterThanOrEqual(4);
    }
  });

  it('of a look or of a part are not kept', () => {
    const before = readdirSync(folder);
    expect(save({ ...newest(), quick: true })).toMatch(/^Not kept/);
    for (const part of ['encodings', 'standardStep', 'attention', 'products', 'training', 'decoding', 'profile'])
      expect(save({ ...newest(), [part]: null })).toMatch(/^Not kept/);
    expect(readdirSync(folder)).toEqual(before);
  });
});
