/** One configuration for every package: fast tests by default, `*.slow.test.ts` with `--mode slow`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }: { mode: string }) => {
  const slow = mode === 'slow';
  const conditions = ['posenc-source', 'node', 'import', 'module', 'default'];
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      include: [slow ? 'test/**/*.slow.test.ts' : 'test/**/*.test.ts'],
      exclude: slow ? [] : ['test/**/*.slow.test.ts'],
      passWithNoTests: true,
      pool: 'forks' as const,
      maxWorkers: 1,
      isolate: false,
      execArgv: ['--conditions=posenc-source'],
      env: {
        // No result depends on the native backends that a machine has,
        POSENC_HOME: fileURLToPath(new URL('./node_modules/.cache/posenc', import.meta.url)),
        // and packages tested at the same time share the cores.
        POSENC_THREADS: process.env.POSENC_THREADS ?? '1',
      },
      testTimeout: slow ? 600_000 : 60_000,
      reporters: ['default', ['json', { outputFile: `test-results/${slow ? 'slow' : 'fast'}.json` }]] as [
        'default',
        ['json', object],
      ],
    },
  };
});
