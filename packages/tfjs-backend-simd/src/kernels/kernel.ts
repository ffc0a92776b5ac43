/** What a kernel of this package looks like to tfjs, and what it falls back to. */
import { getKernel, type KernelFunc, type TensorInfo } from '@tensorflow/tfjs-core';
import type { SimdBackend } from '../backend.ts';

export interface KernelArgs {
  readonly inputs: { readonly [name: string]: TensorInfo };
  readonly backend: SimdBackend;
  readonly attrs: { readonly [name: string]: unknown };
}

export type Kernel = (args: KernelArgs) => TensorInfo | TensorInfo[];

/** The kernel of the cpu backend, on the same memory. */
export function onCpu(name: string, args: KernelArgs): TensorInfo | TensorInfo[] {
  const { kernelFunc } = getKernel(name, 'cpu');
  return kernelFunc(args as unknown as Parameters<KernelFunc>[0]);
}

/** Another kernel of this backend. */
export function call(
  backend: SimdBackend,
  name: string,
  inputs: KernelArgs['inputs'],
  attrs: KernelArgs['attrs'] = {},
): TensorInfo {
  const { kernelFunc } = getKernel(name, 'simd');
  return kernelFunc({ inputs, backend, attrs } as unknown as Parameters<KernelFunc>[0]) as TensorInfo;
}

/** Memory that is only needed while `use` runs. */
export function withMemory<T>(
  { allocator }: SimdBackend,
  bytes: readonly number[],
  use: (addresses: number[]) => T,
): T {
  const addresses: number[] = [];
  try {
    for (const size of bytes) addresses.push(allocator.allocate(size));
    return use(addresses);
  } finally {
    for (const address of addresses) allocator.release(address);
  }
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, extent) => n * extent, 1);

/** Calls `use` with a passing view of `x` under another shape: nothing to release. */
export const reshaped = (x: TensorInfo, shape: number[]): TensorInfo => ({ dataId: x.dataId, shape, dtype: x.dtype });
