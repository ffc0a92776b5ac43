/** Puts this folder's kernels in the place of the stock ones, for the whole process. Twice is the same as once. */

import { PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { inBounds } from './bounds.ts';
import { binary, broadcastFirst } from './broadcast.ts';
import { cast } from './cast.ts';
import { concat, pack, slice, splitV, unpack } from './copy.ts';
import { clipByValue, maximum, minimum, relu6 } from './extremes.ts';
import { onCpu } from './fallback.ts';
import { fusedMatMul } from './fused-matmul.ts';
import { gather } from './gather.ts';
import { batchMatMul } from './matmul.ts';
import { identity, type Kernel } from './memory.ts';
import { oneHot } from './one-hot.ts';
import { unsortedSegmentSum } from './segment-sum.ts';
import { sum } from './sum.ts';
import { tanh } from './tanh.ts';
import { tile } from './tile.ts';
import { transpose } from './transpose.ts';
import { accepted, only, select } from './types.ts';

type Override = (stock: Kernel, name: string) => Kernel;

const onlyCpu: Override = (_stock, name) => (args) => onCpu(name, args);

/** Faster than the stock kernel, and right where it is not. Each is made from the stock one. */
const overrides: ReadonlyMap<string, Override> = new Map<string, Override>([
  ...[...accepted].map(([name, types]) => [name, only(types)] as const),
  ['BatchMatMul', batchMatMul],
  ['_FusedMatMul', () => fusedMatMul],
  ['Transpose', transpose],
  ['Sum', sum],
  ['GatherV2', () => gather],
  ['OneHot', () => oneHot],
  ['ScatterNd', inBounds],
  ['GatherNd', inBounds],
  ['Tile', () => tile],
  ['Tanh', () => tanh],
  ['Identity', () => identity],
  ['Cast', cast],
  ['Slice', slice],
  ['SplitV', splitV],
  ['Unpack', unpack],
  ['Concat', concat],
  ['Pack', pack],
  ['Select', select],
  ['Maximum', () => maximum],
  ['Minimum', () => minimum],
  ['ClipByValue', () => clipByValue],
  ['Relu6', () => relu6],
  ['Prelu', onlyCpu], // Stock takes one alpha per channel, whatever the shapes.
  ['Sign', onlyCpu], // Stock: sign(1e-8) = 0.
  ...binary.map((name) => [name, broadcastFirst] as const),
]);

/** Complex numbers and pictures do not fit the wasm backend's tensors. */
const impossible = ['Complex', 'ComplexAbs', 'Real', 'Imag', 'FFT', 'IFFT', 'Draw'];

const stockKernels = new Map<string, tf.KernelConfig>();
const addedKernels = new Set<string>();

/** Needs the wasm and the cpu backend registered (importing them does that). */
export function installKernels(): void {
  if (stockKernels.size) return;
  for (const [name, override] of overrides) {
    const stock = tf.getKernel(name, 'wasm');
    stockKernels.set(name, stock);
    tf.unregisterKernel(name, 'wasm');
    // tfjs calls setupFunc when it starts the backend: the stock kernel still needs it.
    register(name, override(stock.kernelFunc as unknown as Kernel, name), stock.setupFunc);
  }
  const missing = tf.getKernelsForBackend('cpu').filter(({ kernelName }) => !tf.getKernel(kernelName, 'wasm'));
  for (const { kernelName: name } of missing) {
    addedKernels.add(name);
    if (name === 'UnsortedSegmentSum') register(name, unsortedSegmentSum);
    else if (impossible.includes(name)) register(name, () => refuse(name));
    else register(name, (args) => onCpu(name, args));
  }
}

/** Undoes installKernels: for measuring one against the other. */
export function restoreStockKernels(): void {
  for (const [name, stock] of stockKernels) {
    tf.unregisterKernel(name, 'wasm');
    tf.registerKernel(stock);
  }
  for (const name of addedKernels) tf.unregisterKernel(name, 'wasm');
  stockKernels.clear();
  addedKernels.clear();
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
