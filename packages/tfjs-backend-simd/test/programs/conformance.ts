/**
 * Runs tfjs-core's own tests on this backend, as its other backends run them,  and writes what became of each.
 *
 *     POSENC_THREADS=2 node --conditions=posenc-source test/programs/conformance.ts relaxed results.json
 *
 * The tests are published as modules for bundlers: without file extensions, under a package that does not say "module".
 * Two hooks let Node read them as they are, together with the very tfjs-core that they test.
 */
import { writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import type { SimdBackend, Variant } from '../../src/index.ts';

const published = /\/@tensorflow\/tfjs-(core|backend-cpu)\/dist\//;

registerHooks({
  resolve(specifier, context, next) {
    if (/^@tensorflow\/tfjs-(core|backend-cpu)$/.test(specifier)) return next(`${specifier}/dist/index.js`, context);
    if (!published.test(context.parentURL ?? '')) return next(specifier, context);
    // A CommonJS package whose names Node does not find by itself.
    if (specifier === 'seedrandom')
      return { url: 'data:text/javascript,export const { alea } = seedrandom', shortCircuit: true };
    for (const end of specifier.startsWith('.') ? ['.js', '/index.js'] : [])
      try {
        return next(specifier + end, context);
      } catch {
        // Not this one.
      }
    return next(specifier, context);
  },
  load: (url, context, next) => next(url, published.test(url) ? { ...context, format: 'module' } : context),
});

const require = createRequire(import.meta.url);
const core = createRequire(require.resolve('@tensorflow/tfjs-core/package.json'));
// One of their helpers asks for jasmine-core as CommonJS does.
Object.assign(globalThis, { require, seedrandom: core('seedrandom') });
const jasmine = require('jasmine-core').boot();
const { backend, registerBackend, removeBackend } = await import('@tensorflow/tfjs-core');
const { useSimd } = await import('../../src/index.ts');
const { setTestEnvs } = await import('@tensorflow/tfjs-core/dist/jasmine_util.js');
await import('@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops.js');
await import('@tensorflow/tfjs-core/dist/register_all_gradients.js');

const variant = process.argv[2] as Variant;
const { threads } = await useSimd({ variant });
if (threads > 1) await shareEverything();
setTestEnvs([{ name: 'simd', backendName: 'simd', isDataSync: true }]);

/**
 * Every suite asks for a new backend, whose threads would hardly be up before it ends, and its tensors are too small to
 * be worth sharing. So one backend stays, and shares them all.
 */
async function shareEverything(): Promise<void> {
  const kept = backend() as SimdBackend;
  kept.dispose = () => {};
  removeBackend('simd');
  registerBackend('simd', () => kept);
  const run = kept.pool.run.bind(kept.pool);
  kept.pool.run = (kernel, total, _grain, args) => run(kernel, total, 1, args);
  while (kept.pool.joined < threads) await new Promise((resolve) => setTimeout(resolve, 10));
}

const env = jasmine.getEnv();
// Their suites share names.
env.configure({ random: false, forbidDuplicateNames: false });
jasmine.DEFAULT_TIMEOUT_INTERVAL = 60_000;

interface Result {
  readonly fullName: string;
  readonly status: string;
  readonly failedExpectations: readonly { readonly message: string }[];
}
const specs: object[] = [];
const messages = ({ failedExpectations }: Result) => failedExpectations.map(({ message }) => message);
const suites: string[] = [];
env.addReporter({
  suiteDone: (suite: Result) => suites.push(...messages(suite)),
  specDone: (spec: Result) => specs.push({ name: spec.fullName, status: spec.status, messages: messages(spec) }),
});

await import('@tensorflow/tfjs-core/dist/tests.js');
await env.execute();
writeFileSync(process.argv[3]!, JSON.stringify({ variant, threads, suites, specs }));
process.exit();
