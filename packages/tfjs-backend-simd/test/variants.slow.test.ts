/** The fast tests once more with every combination of SIMD variant and threads that is not the default here. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const combinations = ['relaxed', 'plain'].flatMap((variant) =>
  ['1', '2', '3'].map((threads) => ({ variant, threads })),
);

test.each(
  combinations.filter(({ variant, threads }) => variant === 'plain' || Number(threads) !== availableParallelism()),
)('$variant, $threads threads', async ({ variant, threads }) => {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const env = { ...process.env, POSENC_THREADS: threads, SIMD_TEST_VARIANT: variant };
  const root = new URL('..', import.meta.url).pathname;
  const files = ['attention', 'elementwise', 'fused', 'matmul', 'memory', 'move', 'reduce'].map(
    (name) => `test/${name}.test.ts`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'run', '--reporter=json', ...files], {
    cwd: root,
    env,
    maxBuffer: 2 ** 26,
  });
  const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { numPassedTests: number; numFailedTests: number };
  expect(report.numFailedTests).toBe(0);
  expect(report.numPassedTests).toBeGreaterThan(80);
});
