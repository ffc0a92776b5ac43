import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { builtIn } from '../src/encodings.ts';
import { cli } from './cli.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const pages = [
  'README.md',
  'README.zh.md',
  'CONTRIBUTING.md',
  'docs/why-positions.md',
  'docs/map.md',
  'docs/glossary.md',
];
const page = (name: string) => readFileSync(join(root, name), 'utf8');
const scripts = Object.keys((JSON.parse(page('package.json')) as { scripts: object }).scripts);

/** Commands in fenced `sh` blocks, without their comments; each once. */
const written = pages.flatMap((name) =>
  [...page(name).matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    block!
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter(Boolean),
  ),
);
const commands = [...new Set(written)];
const posenc = commands.filter((line) => line.startsWith('npm run posenc -- '));

describe('the pages a newcomer reads', () => {
  it.each(posenc)('%s', async (line) => {
    const words = line
      .slice('npm run posenc -- '.length)
      .match(/'[^']*'|\S+/g)!
      .map((word) => word.replace(/^'|'$/g, ''));
    const out = mkdtempSync(join(tmpdir(), 'posenc readme '));
    onTestFinished(() => rmSync(out, { recursive: true }));
    const { code, err } = await cli(
      words.map((word) => (word === 'pictures' ? out : word)),
      { cwd: root },
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('names npm scripts that exist, and no other commands', () => {
    expect(posenc.length).toBeGreaterThan(4);
    const rest = commands.filter((line) => !posenc.includes(line));
    for (const line of rest) {
      const script = /^npm (?:run )?([\w:]+)$/.exec(line)?.[1];
      expect([line, scripts.includes(script ?? '')]).toEqual([line, true]);
    }
  });

  it('links to files that exist', () => {
    for (const name of pages)
      for (const [, target] of page(name).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
        expect([target, existsSync(join(dirname(join(root, name)), target!))]).toEqual([target, true]);
  });

  it('lists every built-in encoding', () => {
    for (const name of ['README.md', 'README.zh.md'])
      for (const { type } of builtIn) expect(page(name)).toMatch(new RegExp(`^\\| \`${type}\``, 'm'));
  });
});
