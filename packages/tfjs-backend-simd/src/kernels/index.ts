/** The kernels that replace those of the cpu backend. What is not listed runs there, on the same memory. */
import { getKernel, type KernelFunc, registerKernel, unregisterKernel } from '@tensorflow/tfjs-core';
import type { Kernel } from './kernel.ts';
import { batchMatMul } from './matmul.ts';

const kernels: Readonly<Record<string, Kernel>> = {
  BatchMatMul: batchMatMul,
};

export function installKernels(): void {
  for (const [kernelName, kernel] of Object.entries(kernels)) {
    if (getKernel(kernelName, 'simd')) unregisterKernel(kernelName, 'simd');
    registerKernel({ kernelName, backendName: 'simd', kernelFunc: kernel as unknown as KernelFunc });
  }
}
