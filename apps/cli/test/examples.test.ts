/** Every example in the help of these commands, and every command in the README, is run as it stands (those of doctor elsewhere). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { batch, cli, folder, removeFolders, words } from './cli.ts';
import { blocks, mine } from './examples.ts';

afterAll(removeFolders);

const setting = () => folder({ 'mine.ts': mine, 'encoding.json': '{"type":"rope","pairing":"interleaved"}' });

async function examplesOf(command: string): Promise<string[]> {
  const { out } = await cli(['help', command]);
  return [...out.matchAll(/^ {2}\$ (posenc .*)$/gm)].map(([, line]) => line!);
}

describe('examples in the help', () => {
  it.each(['inspect', 'list', 'schema', 'new'])('%s', async (command) => {
    const lines = await examplesOf(command);
    expect(lines.length).toBeGreaterThanOrEqual(2);
    const results = batch(
      lines.map((line) => words(line).slice(1)),
      setting(),
    );
    lines.forEach((line, i) => {
      expect({ line, code: results[i]!.code, err: results[i]!.err }).toEqual({ line, code: 0, err: '' });
      expect(results[i]!.out.length).toBeGreaterThan(100);
      if (/--json|schema/.test(line)) expect(() => JSON.parse(results[i]!.out), line).not.toThrow();
    });
  });
});

describe('README', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  it('its commands run', () => {
    const [suite] = blocks('json');
    const corpus = 'A rose is a rose is a rose. '.repeat(2000);
    const cwd = folder({ 'mine.ts': mine, 'suite.json': suite!, 'corpus.txt': corpus });
    const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
    expect(lines.length).toBeGreaterThanOrEqual(9);
    const results = batch(
      lines.map((line) => words(line).slice(1)),
      cwd,
    );
    lines.forEach((line, i) => {
      expect({ line, code: results[i]!.code, err: results[i]!.err }).toMatchObject({ line, code: 0 });
      expect(line.startsWith('posenc ')).toBe(true);
    });
    expect(existsSync(join(cwd, 'pictures/index.html'))).toBe(true);
  });

  it('its table has every command', async () => {
    const { out } = await cli(['--help']);
    const commands = [...out.matchAll(/^ {2}([a-z]+) .* {2,}\S/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== 'help');
    const table = [...text.matchAll(/^\| `([a-z]+)\b[^`]*` +\|/gm)].map(([, name]) => name!);
    expect(table).toEqual(commands);
  });
});
