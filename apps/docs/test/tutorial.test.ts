/** docs/tutorial.md: its code, taken from the page, is run; its mistake is made, and found as the page says. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { useBackend } from '@posenc/backend';
import type { PositionalEncoding } from '@posenc/core';
import { type LawError, lawsFor } from '@posenc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../src/packages.ts';

const page = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, body]) => body!);
const [encoding, test, mistake] = blocks('ts') as [string, string, string];
const [message] = blocks('text') as [string];
const [suite] = blocks('json') as [string];

const folder = fileURLToPath(new URL('../test-results/tutorial/', import.meta.url));
const file = (name: string, content: string) => writeFileSync(join(folder, name), content);
const node = (...args: string[]) =>
  spawnSync(process.execPath, ['--conditions=posenc-source', ...args], { cwd: folder, encoding: 'utf8' });
const main = join(root, 'apps/cli/src/main.ts');

/** What the kit says about the encoding in a file, law by law. */
async function broken(name: string): Promise<Map<string, string>> {
  const { beat } = (await import(/* @vite-ignore */ join(folder, name))) as { beat: PositionalEncoding };
  const found = new Map<string, string>();
  for (const law of lawsFor(beat, [{}])) await law.run().catch((error: LawError) => found.set(law.law, error.message));
  return found;
}

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  file('beat.ts', encoding);
  file('beat.test.ts', test);
  file('suite.json', suite);
  const hook = /^ {10}relativeBias[\s\S]*?^ {10}\},\n/m;
  expect(encoding).toMatch(hook);
  file(
    'mistake.ts',
    encoding.replace(hook, () => mistake),
  );
  file('tsconfig.json', JSON.stringify({ extends: '../../../../tsconfig.base.json', include: ['*.ts'] }));
  await useBackend('simd');
});

describe('your own encoding', () => {
  it('has fewer than 40 lines, its test included, as the page counts them', () => {
    const lines = (encoding + test).split('\n').length - 1;
    expect(lines).toBeLessThan(40);
    expect(page).toContain(`${lines} lines together`);
  });

  it('type-checks, the mistake too', () => {
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });

  it('obeys every law', () => {
    const { status, stdout } = node('--test', '--test-reporter=tap', 'beat.test.ts');
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^# pass \d\d$/m)]);
    expect(stdout).toContain('# fail 0');
  });

  it('is found out when it takes places for positions, in the words of the page', async () => {
    const found = await broken('mistake.ts');
    expect(page).toContain('finds it three times');
    expect([...found.keys()]).toEqual(['position sensitivity', 'token order', 'cached decoding']);
    expect(`${found.get('position sensitivity')}\n`).toBe(message);
  });

  it('can be seen and compared', () => {
    const commands = blocks('sh').flatMap((block) => block.trim().split('\n'));
    expect(commands).toContain('npx posenc inspect ./beat.ts --out pictures');
    expect(commands).toContain('npx posenc compare suite.json --plugin ./beat.ts');
    expect(node(main, 'inspect', './beat.ts', '--out', 'pictures').stdout).toContain('open pictures/index.html');
    const { status, stdout, stderr } = node(main, 'compare', 'suite.json', '--plugin', './beat.ts', '--dry-run');
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/^beat +1 /m), '']);
  });
});
