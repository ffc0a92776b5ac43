/** The fast tests once more with every SIMD variant, on one thread and on more. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const combinations = [
  { variant: 'plain', threads: '1' },
  { variant: 'plain', threads: '2' },
  { variant: 'relaxed', threads: '1' },
  { variant: 'relaxed', threads: '3' },
  { variant: 'relaxed', threads: '1', wide: '1' },
  { variant: 'plain', threads: '1', wide: '1' },
];

test.each(combinations)('$variant, $threads threads, wide: $wide', async ({ variant, threads, wide = '0' }) => {
  const root = new URL('..', import.meta.url).pathname;
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const report = join(root, 'test-results', `${variant}-${threads}-${wide}.json`);
  const env = { ...process.env, POSENC_THREADS: threads, SIMD_TEST_VARIANT: variant, POSENC_SIMD_WIDE: wide };
  const files = ['attention', 'elementwise', 'fused', 'matmul', 'move', 'reduce'].map((name) => `test/${name}.test.ts`);
  const args = [vitest, 'run', '--reporter=json', `--outputFile=${report}`, ...files];
  await promisify(execFile)(process.execPath, args, { cwd: root, env });
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>;
  expect(numFailedTests).toBe(0);
  expect(numPassedTests).toBeGreaterThan(75);
});
