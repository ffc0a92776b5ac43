/** Pages of docs/ link to files that exist, and to headings that are in them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../src/packages.ts';

const pages = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => join(root, 'docs', name));

/** The anchor that GitHub gives a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

it.each(pages)('%s', (page) => {
  for (const [, target, place] of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
    const file = target ? join(dirname(page), target) : page;
    expect([target, existsSync(file)]).toEqual([target, true]);
    if (!place) continue;
    const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading!));
    expect([target, headings]).toEqual([target, expect.arrayContaining([place])]);
  }
});
