/** Bundles this folder as an application would be, with the package's built files. */
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export async function bundle(outDir: string): Promise<void> {
  await build({
    root: path('.'),
    configFile: false,
    logLevel: 'warn',
    // The model comes from the sources; @posenc/tfjs-backend-simd does not: it is what its package.json exports.
    resolve: { alias: { '@posenc/core': path('../../../core/src/index.ts') } },
    build: { outDir, emptyOutDir: true, target: 'esnext', minify: false },
  });
}
