/** The README's example runs and prints what the README says. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('README.md', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const block = (language: string) => readme.match(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's'))![1]!;
  const file = new URL('../test-results/readme-example.ts', import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, block('ts'));
  const run = ['--conditions=posenc-source', fileURLToPath(file)];
  const printed = execFileSync(process.execPath, run, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  expect(printed.trim()).toBe(block('text').trim());
});
