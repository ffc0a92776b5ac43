/** The README's examples run as they stand there: the first test in this runner, the second in Node's. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lawsFor, lawsForEncoding } from '@posenc/testkit';
import { describe, expect, it } from 'vitest';
import { ratio } from './small.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const folder = new URL('../test-results/readme/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [, name, code] of readme.matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g))
  writeFileSync(new URL(name!, folder), code!);

// Registers its own tests in this file.
await import(/* @vite-ignore */ new URL('mine.test.ts', folder).href);

describe('README', () => {
  it('has an example that runs under node:test', async () => {
    const file = fileURLToPath(new URL('both.test.ts', folder));
    const args = ['--conditions=posenc-source', '--test', '--test-reporter=tap', file];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
    const laws = lawsForEncoding({ name: 'any', create: (dims) => ratio.create({}, dims) });
    expect(stdout).toContain(`# pass ${laws.length}\n# fail 0`);
  });

  it('lists every law', () => {
    for (const { law } of lawsFor(ratio, [{}], { backends: ['cpu', 'simd'] }))
      expect(readme).toMatch(new RegExp(`^\\| ${law} +\\|`, 'm'));
  });
});
