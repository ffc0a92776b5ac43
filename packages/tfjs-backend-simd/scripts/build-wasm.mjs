/**
 * Compiles assembly/index.ts to wasm/relaxed.wasm and wasm/plain.wasm, unless they are of these very sources.
 *
 *     node scripts/build-wasm.mjs
 *
 * Run by `build`, and by the package itself when it is used from its sources: a fresh clone needs no extra step.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const variants = { relaxed: ['--enable', 'relaxed-simd'], plain: [] };
/**
 * The memory is shared with the worker threads and comes from outside; addresses are handed out by src/allocator.ts. The
 * kernels' tables of numbers lie between the task (src/task.ts) and what is handed out: 1 KiB.
 */
const options = [
  '-O3',
  '--noAssert',
  '--memoryBase=3072',
  '--runtime=stub',
  '--use=abort=',
  '--enable=threads,simd',
  '--importMemory',
  '--sharedMemory',
  '--initialMemory=16',
  '--maximumMemory=65536',
];

function digestOfSources() {
  const hash = createHash('sha256').update(JSON.stringify([variants, options]));
  for (const file of readdirSync(join(root, 'assembly')).sort())
    hash.update(file).update(readFileSync(join(root, 'assembly', file)));
  return hash.digest('hex');
}

/** Compiles what is missing or stale. Files appear whole, so that processes starting together do not meet half a one. */
export async function buildWasm() {
  const stamp = join(root, 'wasm', 'sources.sha256');
  const digest = digestOfSources();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const { default: asc } = await import('assemblyscript/asc');
  mkdirSync(join(root, 'wasm'), { recursive: true });
  const own = (name) => `wasm/${name}.${process.pid}`;
  for (const [name, extra] of Object.entries(variants)) {
    const { error, stderr } = await asc.main(
      ['assembly/index.ts', '--baseDir', root, '--outFile', own(name), ...options, ...extra],
      {},
    );
    if (error) throw new Error(`assemblyscript: ${error.message}\n${stderr}`);
  }
  for (const name of Object.keys(variants)) renameSync(join(root, own(name)), join(root, 'wasm', `${name}.wasm`));
  writeFileSync(join(root, own('stamp')), digest);
  renameSync(join(root, own('stamp')), stamp);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWasm();
