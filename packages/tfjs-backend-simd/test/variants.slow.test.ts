/** The fast tests once more with every SIMD variant, on one thread and on more. */

import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  const root = fileURLToPath(new URL('..', import.meta.url));
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const env = { ...process.env, POSENC_THREADS: threads, SIMD_TEST_VARIANT: variant, POSENC_SIMD_WIDE: wide };
  const files = ['attention', 'elementwise', 'fused', 'matmul', 'move', 'reduce', 'rotary'].map(
    (name) => `test/${name}.test.ts`,
  );
  const args = [vitest, 'run', '--reporter=default', ...files];
  // Rejects when a test fails.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...env, NO_COLOR: '1' } });
  expect(Number(/Tests +(\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(75);
});
