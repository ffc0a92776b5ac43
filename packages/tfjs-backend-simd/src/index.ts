/** TensorFlow.js backend `simd`. `await useSimd()` registers it, makes it current and says what it runs on. */
import { findBackend, findBackendFactory, registerBackend, removeBackend, setBackend } from '@tensorflow/tfjs-core';
import { createAllocator } from './allocator.ts';
import { SimdBackend } from './backend.ts';
import { installKernels } from './kernels/index.ts';
import { checkVariant, hasRelaxedSimd, loadModule, type Variant } from './module.ts';
import { createPool } from './pool.ts';
import { firstFreeAddress } from './task.ts';
import { checkThreads, defaultThreads } from './threads.ts';
import { defaultWide, knowsWide, prefersWide, widen } from './wide.ts';

export { SimdBackend } from './backend.ts';
export type { Variant } from './module.ts';
export { defaultThreads } from './threads.ts';

/** How the backend is set up. */
export interface SimdOptions {
  /** Threads that compute, this one included, 256 at most; default `POSENC_THREADS`, else one per core, 16 at most. */
  readonly threads?: number;
  /** `relaxed` (fused multiply-add) where the engine has it, else `plain`. The last bits of a result depend on it. */
  readonly variant?: Variant;
  /**
   * Lets V8 use registers of 256 bits, where it can; default: only where the environment has `POSENC_SIMD_WIDE=1`. The same
   * bits, matrix products nearly twice as fast, but by an experimental flag of V8's that then holds for all WebAssembly
   * compiled later in the process.
   */
  readonly wide?: boolean;
}

/** How it runs now. */
export interface SimdInfo {
  readonly variant: Variant;
  readonly threads: number;
  /** Registers of 256 bits are in use. Makes no difference to any bit. */
  readonly wide: boolean;
}

/** What a backend is made from; `wide`: V8 may use registers of 256 bits. */
type Settings = Required<SimdOptions>;

let current: Settings | undefined;
let busy: Promise<unknown> = Promise.resolve();

/**
 * Registers the backend `simd` and makes it current. A second call with other options replaces the backend, and with it
 * all tensors that it holds; the same options keep both. Calls take turns, in their order.
 *
 * Throws RangeError for an unknown variant, for what is no number of threads from 1 to 256, and for such values in
 * `POSENC_THREADS` and `POSENC_SIMD_WIDE`.
 */
export async function useSimd(options: SimdOptions = {}): Promise<SimdInfo> {
  const settings = settle(options);
  const turn = busy.then(() => useBackend(settings));
  busy = turn.catch(() => undefined);
  return turn;
}

function settle({ variant, threads, wide }: SimdOptions): Settings {
  const wideByDefault = defaultWide();
  const settings = {
    variant: variant ?? (hasRelaxedSimd() ? 'relaxed' : 'plain'),
    threads: threads ?? defaultThreads(),
    wide: (wide ?? wideByDefault) && knowsWide(),
  } as const;
  checkVariant(settings.variant);
  checkThreads(settings.threads);
  return settings;
}

async function useBackend(settings: Settings): Promise<SimdInfo> {
  const { variant, threads, wide } = settings;
  const same = current?.variant === variant && current.threads === threads && current.wide === wide;
  if (!same && findBackendFactory('simd')) removeBackend('simd');
  if (!findBackendFactory('simd')) {
    if (wide) widen();
    const first = [await createBackend(settings)];
    // Whoever disposes the backend (tf.engine().reset()) gets another one next, not one whose threads have gone.
    registerBackend('simd', () => first.pop() ?? createBackend(settings), 0);
    installKernelsOnce();
  }
  current = settings;
  await setBackend('simd');
  return { variant, threads, wide: (findBackend('simd') as SimdBackend).pool.wide };
}

async function createBackend({ variant, threads, wide }: Settings): Promise<SimdBackend> {
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 65536, shared: true });
  const module = await loadModule(variant);
  const pool = createPool(module, memory, threads, wide && prefersWide(module, memory));
  return new SimdBackend(memory, createAllocator(memory, firstFreeAddress), pool);
}

let installed = false;
function installKernelsOnce(): void {
  if (installed) return;
  installed = true;
  installKernels();
}
