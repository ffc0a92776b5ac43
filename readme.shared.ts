/** A test for a package's README: its example runs, and prints what the README says. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'node:util';
import { expect, test, vi } from 'vitest';

/**
 * Call it from test/readme.test.ts with `import.meta.url`. The first `ts` block is run; what it prints must be the `text` block,
 * or, without one, the comments behind its console.log lines.
 */
export function testReadme(testFile: string): void {
  test('the README example prints what the README says', async () => {
    const readme = readFileSync(new URL('../README.md', testFile), 'utf8');
    const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
    const code = block('ts')!;
    const comments = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
    const promised = block('text')?.trim() ?? comments.join('\n');
    expect(promised).not.toBe('');

    const file = new URL('../test-results/readme-example.ts', testFile);
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, code);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    try {
      await import(/* @vite-ignore */ file.href);
      expect(log.mock.calls.map((args) => format(...args)).join('\n')).toBe(promised);
    } finally {
      log.mockRestore();
    }
  });
}
