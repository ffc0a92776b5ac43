/**
 * What the kernels in this folder use of tfjs's wasm backend. A tensor is a range of one WebAssembly memory; a kernel gets
 * its inputs as `TensorInfo`s, makes its output and returns it.
 */
import * as tf from '@tensorflow/tfjs';

export interface WasmBackend {
  readonly wasm: { readonly HEAPU8: Uint8Array };
  makeOutput(shape: number[], dtype: tf.DataType, offset?: number, values?: tf.TypedArray): tf.TensorInfo;
  typedArrayFromHeap(info: tf.TensorInfo): Float32Array | Int32Array | Uint8Array;
  readSync(dataId: object): tf.TypedArray;
  disposeData(dataId: object): boolean;
}

export interface KernelArgs {
  readonly inputs: { readonly [name: string]: tf.TensorInfo };
  readonly backend: WasmBackend;
  readonly attrs: { readonly [name: string]: unknown };
}

export type Kernel = (args: KernelArgs) => tf.TensorInfo | tf.TensorInfo[];

/** Runs a kernel of the wasm backend by name: the one registered now, stock or ours. */
export function call(
  backend: WasmBackend,
  name: string,
  inputs: KernelArgs['inputs'],
  attrs: KernelArgs['attrs'] = {},
): tf.TensorInfo {
  const kernel = tf.getKernel(name, 'wasm').kernelFunc as unknown as Kernel;
  return kernel({ inputs, backend, attrs }) as tf.TensorInfo;
}

/** Names the same data by another shape, for the inputs of a kernel: nothing to release. */
export const reshaped = (x: tf.TensorInfo, shape: number[]): tf.TensorInfo => ({
  dataId: x.dataId,
  shape,
  dtype: x.dtype,
});

/** The tensor's elements in WebAssembly memory. Valid only until the next allocation, which may move the memory. */
export function elements(backend: WasmBackend, x: tf.TensorInfo): Float32Array | Int32Array | Uint8Array {
  return backend.typedArrayFromHeap(x);
}
