/**
 * The cpu backend's kernel on host copies: right and deterministic, at the speed of plain JavaScript plus two copies.
 * Serves the kernels that the wasm backend lacks, and the types that its kernels do not take.
 */
import * as tf from '@tensorflow/tfjs';
import type { KernelArgs } from './memory.ts';

interface CpuBackend {
  makeTensorInfo(shape: number[], dtype: tf.DataType, values: tf.TypedArray): tf.TensorInfo;
  readSync(dataId: object): tf.TypedArray;
  disposeIntermediateTensorInfo(info: tf.TensorInfo): void;
}

type CpuKernel = (args: {
  inputs: KernelArgs['inputs'];
  backend: CpuBackend;
  attrs: KernelArgs['attrs'];
}) => tf.TensorInfo | tf.TensorInfo[];

/** Runs the cpu kernel `name` on copies of the inputs and copies its results back. */
export function onCpu(name: string, { inputs, backend, attrs }: KernelArgs): tf.TensorInfo | tf.TensorInfo[] {
  const cpu = tf.findBackend('cpu') as unknown as CpuBackend;
  const kernel = tf.getKernel(name, 'cpu').kernelFunc as unknown as CpuKernel;
  const copy = (x: tf.TensorInfo) => cpu.makeTensorInfo(x.shape, x.dtype, backend.readSync(x.dataId));
  // Some kernels take a list: its entries are named by their index.
  const copies: { [input: string]: tf.TensorInfo } = Array.isArray(inputs) ? Object.assign([], inputs) : { ...inputs };
  for (const input of Object.keys(copies)) if (copies[input]) copies[input] = copy(copies[input]);
  const results = kernel({ inputs: copies, backend: cpu, attrs });
  const back = (y: tf.TensorInfo) => {
    const out = backend.makeOutput(y.shape, y.dtype, undefined, cpu.readSync(y.dataId));
    cpu.disposeIntermediateTensorInfo(y);
    return out;
  };
  const outputs = Array.isArray(results) ? results.map(back) : back(results);
  for (const x of Object.values(copies)) if (x) cpu.disposeIntermediateTensorInfo(x);
  return outputs;
}
