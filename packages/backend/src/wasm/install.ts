/** Puts this folder's kernels in the place of stock ones that are wrong, for the whole process. Twice is the same as once. */

import { PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { inBounds } from './bounds.ts';
import { cast } from './cast.ts';
import { clipByValue, maximum, minimum, relu6 } from './extremes.ts';
import { onCpu } from './fallback.ts';
import { fusedMatMul } from './fused-matmul.ts';
import { gather } from './gather.ts';
import { batchMatMul } from './matmul.ts';
import type { Kernel } from './memory.ts';
import { oneHot } from './one-hot.ts';
import { unsortedSegmentSum } from './segment-sum.ts';
import { accepted, only, select } from './types.ts';

type Override = (stock: Kernel, name: string) => Kernel;

const onlyCpu: Override = (_stock, name) => (args) => onCpu(name, args);

/** Right where the stock kernel is not. Each is made from the stock one. */
const overrides: ReadonlyMap<string, Override> = new Map<string, Override>([
  ...[...accepted].map(([name, types]) => [name, only(types)] as const),
  ['BatchMatMul', batchMatMul],
  ['_FusedMatMul', () => fusedMatMul],
  ['GatherV2', () => gather],
  ['OneHot', () => oneHot],
  ['ScatterNd', inBounds],
  ['GatherNd', inBounds],
  ['Cast', cast],
  ['Select', select],
  ['Maximum', () => maximum],
  ['Minimum', () => minimum],
  ['ClipByValue', () => clipByValue],
  ['Relu6', () => relu6],
  ['Prelu', onlyCpu], // Stock takes one alpha per channel, whatever the shapes.
  ['Sign', onlyCpu], // Stock: sign(1e-8) = 0.
]);

/** Complex numbers and pictures do not fit the wasm backend's tensors. */
const impossible = ['Complex', 'ComplexAbs', 'Real', 'Imag', 'FFT', 'IFFT', 'Draw'];

let installed = false;

/** Needs the wasm and the cpu backend registered (importing them does that). */
export function installKernels(): void {
  if (installed) return;
  installed = true;
  for (const [name, override] of overrides) {
    const stock = tf.getKernel(name, 'wasm');
    tf.unregisterKernel(name, 'wasm');
    // tfjs calls setupFunc when it starts the backend: the stock kernel still needs it.
    register(name, override(stock.kernelFunc as unknown as Kernel, name), stock.setupFunc);
  }
  const missing = tf.getKernelsForBackend('cpu').filter(({ kernelName }) => !tf.getKernel(kernelName, 'wasm'));
  for (const { kernelName: name } of missing) {
    if (name === 'UnsortedSegmentSum') register(name, unsortedSegmentSum);
    else if (impossible.includes(name)) register(name, () => refuse(name));
    else register(name, (args) => onCpu(name, args));
  }
}

function register(kernelName: string, kernel: Kernel, setupFunc?: tf.KernelConfig['setupFunc']): void {
  const config = { kernelName, backendName: 'wasm', kernelFunc: kernel as unknown as tf.KernelFunc };
  tf.registerKernel(setupFunc ? { ...config, setupFunc } : config);
}

function refuse(kernel: string): never {
  throw new PosencError(
    `the wasm backend has no kernel ${kernel}: its tensors hold no complex numbers and no pictures. ` +
      `Use the backend 'cpu' or 'tensorflow' for this operation.`,
  );
}
