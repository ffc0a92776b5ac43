/** TensorFlow.js backend `simd`. `await useSimd()` registers it, makes it current and says what it runs on. */
import {
  copyRegisteredKernels,
  findBackend,
  findBackendFactory,
  registerBackend,
  removeBackend,
  setBackend,
} from '@tensorflow/tfjs-core';
import { createAllocator } from './allocator.ts';
import { SimdBackend } from './backend.ts';
import { installKernels } from './kernels/index.ts';
import { hasRelaxedSimd, loadModule, type Variant } from './module.ts';
import { createPool } from './pool.ts';
import { firstFreeAddress } from './task.ts';
import { checkThreads, defaultThreads } from './threads.ts';
import { prefersWide, widen } from './wide.ts';

export { SimdBackend } from './backend.ts';
export type { Variant } from './module.ts';
export { defaultThreads } from './threads.ts';

/** How the backend is set up. */
export interface SimdOptions {
  /** Threads that compute, this one included; default `POSENC_THREADS`, else the number of cores. */
  readonly threads?: number;
  /** `relaxed` (fused multiply-add) where the engine has it, else `plain`. The last bits of a result depend on it. */
  readonly variant?: Variant;
  /**
   * Lets V8 use registers of 256 bits, where it can; default `POSENC_SIMD_WIDE=1`. The same bits, matrix products nearly twice
   * as fast, but by an experimental flag of V8's that then holds for all WebAssembly compiled later in the process.
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

let current: Omit<SimdInfo, 'wide'> | undefined;

/**
 * Registers the backend `simd` and makes it current. A second call with other options replaces the backend, and with it
 * all tensors that it holds; the same options keep both.
 */
export async function useSimd(options: SimdOptions = {}): Promise<SimdInfo> {
  const info = {
    variant: options.variant ?? (hasRelaxedSimd() ? 'relaxed' : 'plain'),
    threads: options.threads ?? defaultThreads(),
  } as const;
  checkThreads(info.threads);
  if (current && (current.variant !== info.variant || current.threads !== info.threads)) removeBackend('simd');
  if (!findBackendFactory('simd')) {
    const widened = (options.wide ?? globalThis.process?.env?.POSENC_SIMD_WIDE === '1') && widen();
    const first = [await createBackend(info, widened)];
    // Whoever disposes the backend (tf.engine().reset()) gets another one next, not one whose threads have gone.
    registerBackend('simd', () => first.pop() ?? createBackend(info, widened), 0);
    installKernelsOnce();
  }
  current = info;
  await setBackend('simd');
  return { ...info, wide: (findBackend('simd') as SimdBackend).pool.wide };
}

async function createBackend({ variant, threads }: Omit<SimdInfo, 'wide'>, widened: boolean): Promise<SimdBackend> {
  const memory = new WebAssembly.Memory({ initial: 256, maximum: 65536, shared: true });
  const module = await loadModule(variant);
  const pool = createPool(module, memory, threads, widened && prefersWide(module, memory));
  return new SimdBackend(memory, createAllocator(memory, firstFreeAddress), pool);
}

let installed = false;
function installKernelsOnce(): void {
  if (installed) return;
  installed = true;
  copyRegisteredKernels('cpu', 'simd');
  installKernels();
}
