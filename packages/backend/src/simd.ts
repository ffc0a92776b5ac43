/** WebAssembly with SIMD and worker threads: every hot kernel is of @posenc/tfjs-backend-simd. */
import { useSimd } from '@posenc/tfjs-backend-simd';
import * as tf from '@tensorflow/tfjs';
import { quietCpu } from './cpu.ts';
import type { BackendInfo } from './names.ts';

export async function prepareSimd(asked?: number): Promise<BackendInfo> {
  quietCpu();
  const { variant, threads } = await useSimd(asked === undefined ? {} : { threads: asked });
  const fused = variant === 'relaxed' ? 'fused multiply-add' : 'separate multiplication and addition';
  return {
    name: 'simd',
    version: tf.version['tfjs-core'],
    variant,
    threads,
    description: `WebAssembly SIMD with ${fused}, ${threads === 1 ? 'one thread' : `${threads} threads`}, kernels by posenc`,
  };
}
