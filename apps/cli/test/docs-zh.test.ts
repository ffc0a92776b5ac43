/**
 * README.zh.md says what README.md says: same headings, commands, formulas, tables, lists, links, pictures and blocks of numbers.
 * When this fails: translate what changed; for numbers between markers run "npm run readme:zh".
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, copyBlocks } from '../scripts/blocks.ts';
import { root } from '../scripts/map/data.ts';

const read = (name: string) => readFileSync(join(root, name), 'utf8');

/** What both languages must have alike, in order. */
function skeleton(page: string) {
  const fenced = /^```(\w*)\n([\s\S]*?)^```$/gm;
  const prose = page.replace(fenced, '');
  const tables = [...prose.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => table.trimEnd().split('\n').map(cellsOf));
  return {
    headings: [...prose.matchAll(/^(#+) /gm)].map(([, level]) => level),
    commands: [...page.matchAll(fenced)].map(([, language, code]) => ({ language, code: withoutComments(code!) })),
    formulas: [...prose.matchAll(/^ {4}\S.*$/gm)].map(([line]) => line.replace(/(\S) {3,}.*$/, '$1')),
    columns: tables.map(([head]) => head!.length),
    rows: tables.map((rows) => rows.map(([first]) => spans(first!))),
    items: [...prose.matchAll(/^(\d+\.|-) /gm)].map(([, mark]) => mark),
    links: [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!).filter((to) => !/^README(\.zh)?\.md$/.test(to)),
    code: spans(prose).sort(),
    paragraphs: prose.split(/\n{2,}/).filter((text) => text.trim()).length,
  };
}

const cellsOf = (row: string) => row.split('|').slice(1, -1);
const spans = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
const withoutComments = (code: string) => code.replace(/ +# .*$/gm, '');

describe('README.zh.md', () => {
  const [english, chinese] = [skeleton(read('README.md')), skeleton(read('README.zh.md'))];

  it.each(Object.keys(english) as (keyof typeof english)[])('has the same %s as README.md', (part) => {
    expect(english[part]).not.toEqual([]);
    expect(chinese[part]).toEqual(english[part]);
  });

  it('has the numbers that scripts wrote into README.md: "npm run readme:zh" copies them', () => {
    expect(blocksOf(read('README.md')).size).toBeGreaterThan(0);
    expect(copyBlocks(read('README.md'), read('README.zh.md'))).toBe(read('README.zh.md'));
  });

  it('fills the same holes with every encoding', () => {
    const fills = (name: string) =>
      [...read(name).matchAll(/^\| `([\w-]+)` \| \[`@posenc.*?\| (.*?) \|/gm)].map(([, type, holes]) => [type, holes]);
    const words: Record<string, string> = { 无: 'nothing' };
    expect(fills('README.zh.md').map(([type, holes]) => [type, words[holes!] ?? holes])).toEqual(fills('README.md'));
  });

  it('and README.md link to each other at the top', () => {
    expect(read('README.md').split('\n')[2]).toContain('](README.zh.md)');
    expect(read('README.zh.md').split('\n')[2]).toContain('](README.md)');
  });

  it('is Chinese', () => {
    const characters = read('README.zh.md').match(/\p{Script=Han}/gu)!;
    expect(characters.length).toBeGreaterThan(800);
  });
});

describe('blocks that scripts write', () => {
  const page = (inner: string, name = 'a') => `x\n<!-- ${name}: start -->\n${inner}<!-- ${name}: end -->\ny`;

  it('are copied, and nothing else', () => {
    expect(copyBlocks(page('new $1\n'), page('old\n').replace('x', 'z'))).toBe(page('new $1\n').replace('x', 'z'));
  });

  it('are not copied into a page with other markers', () => {
    expect(() => copyBlocks(page('new\n'), page('old\n', 'b'))).toThrow('missing a, extra b');
  });
});
