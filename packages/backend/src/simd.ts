/** WebAssembly with SIMD and worker threads: every hot kernel is of @posenc/tfjs-backend-simd. */
import { useSimd } from '@posenc/tfjs-backend-simd';
import * as tf from '@tensorflow/tfjs';
import { quietCpu } from './cpu.ts';
import type { BackendInfo } from './names.ts';

/** Wide registers unless `POSENC_SIMD_WIDE=0`: the bits are the same, and the processes are posenc's own or asked for them. */
export async function prepareSimd(asked?: number): Promise<BackendInfo> {
  quietCpu();
  const options = { wide: process.env.POSENC_SIMD_WIDE !== '0', ...(asked !== undefined && { threads: asked }) };
  const { variant, threads, wide } = await useSimd(options);
  const fused = variant === 'relaxed' ? 'fused multiply-add' : 'separate multiplication and addition';
  return {
    name: 'simd',
    version: tf.version['tfjs-core'],
    variant,
    threads,
    description: `WebAssembly SIMD with ${fused}${wide ? ' in registers of 256 bits' : ''}, ${threads === 1 ? 'one thread' : `${threads} threads`}, kernels by posenc`,
  };
}
