/** The README's example runs, and each console.log prints what the comment after it says. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';

test('the README example prints what its comments say', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const code = readme.match(/```ts\n([\s\S]*?)```/)![1]!;
  const promised = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
  expect(promised.length).toBeGreaterThan(0);

  const file = new URL('../test-results/readme-example.ts', import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, code);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await import(/* @vite-ignore */ file.href);
    expect(log.mock.calls.map((args) => args.join(' '))).toEqual(promised);
  } finally {
    log.mockRestore();
  }
});
