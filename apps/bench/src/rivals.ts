/** Who else takes the standard step. They are dependencies of this private package, never of what posenc publishes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Contender, threadsEnvironment } from 'posenc/bench';

const file = (name: string) => fileURLToPath(new URL(`./rivals/${name}`, import.meta.url));
const getIt = 'It is a dependency of apps/bench: npm run setup installs it.';

const inNode = (name: string, module: string, ...args: string[]): Contender => ({
  name,
  kind: 'rival',
  getIt,
  threaded: false,
  start: (folder, threads) => ({
    command: process.execPath,
    args: [...process.execArgv, file(module), folder, ...args],
    env: threadsEnvironment(threads),
  }),
});

/** Not from npm: measured where `python3` has it, and said to be absent where it does not. */
const inPython = (name: string, module: string, threaded: boolean, env: Record<string, string> = {}): Contender => ({
  name,
  kind: 'rival',
  threaded,
  start: (problem, threads) => ({
    command: 'python3',
    args: ['-B', file(module), problem, String(threads)],
    env: { ...threadsEnvironment(threads), ...env },
  }),
});

export const rivals: readonly Contender[] = [
  inNode('@jax-js/jax', 'jax-js.ts'),
  inNode('TensorFlow.js wasm, stock', 'tfjs.ts', 'wasm'),
  inNode('TensorFlow.js cpu, stock', 'tfjs.ts', 'cpu'),
  inPython('PyTorch CPU, eager', 'pytorch.py', true),
];

/** Holds PyTorch to registers of 256 bits, where it would take wider ones. */
const avx2 = { ATEN_CPU_CAPABILITY: 'avx2', MKL_ENABLE_INSTRUCTIONS: 'AVX2', DNNL_MAX_CPU_ISA: 'AVX2' };

/** Others that multiply matrices. */
export const products: readonly Contender[] = [
  inPython('PyTorch CPU', 'pytorch_product.py', false),
  inPython('PyTorch CPU, AVX2', 'pytorch_product.py', false, avx2),
];

/** Versions of the rivals that come from npm. */
export function rivalVersions(): Record<string, string> {
  const require = createRequire(import.meta.url);
  return Object.fromEntries(
    ['@jax-js/jax', '@tensorflow/tfjs-backend-wasm'].map((name) => [name, versionAbove(require.resolve(name), name)]),
  );
}

/** From the package.json of `name` above a module: not every package exports it. */
function versionAbove(path: string, name: string): string {
  const folder = dirname(path);
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name?: string;
      version: string;
    };
    if (manifest.name === name) return manifest.version;
  } catch {
    if (folder === path) throw new Error(`${name} has no package.json above it`);
  }
  return versionAbove(folder, name);
}
