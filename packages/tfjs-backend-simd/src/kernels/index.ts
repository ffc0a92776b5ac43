/** The kernels that replace those of the cpu backend. What is not listed runs there, on the same memory. */
import { getKernelsForBackend, type KernelFunc, registerKernel } from '@tensorflow/tfjs-core';
import { adamw } from './adamw.ts';
import { attention, attentionGrad } from './attention.ts';
import { binaryKernels, select } from './binary.ts';
import { cast } from './cast.ts';
import { concat, pack, padV2, slice, splitV, tile, unpack } from './copy.ts';
import { crossEntropy, crossEntropyGrad } from './cross-entropy.ts';
import { cumsum } from './cumulative.ts';
import { dropout } from './dropout.ts';
import { fill, oneHot, onesLike, zerosLike } from './fill.ts';
import { gatherV2, scatterNd, unsortedSegmentSum } from './gather.ts';
import { gatedActivation, gatedActivationGrad, gelu, geluGrad } from './gelu.ts';
import { type Kernel, type KernelArgs, onCpu } from './kernel.ts';
import { batchMatMul } from './matmul.ts';
import { norm, normGrad } from './norm.ts';
import { reduce } from './reduce.ts';
import { rotatePairs } from './rotary.ts';
import { logSoftmax, softmax } from './softmax.ts';
import { transpose } from './transpose.ts';
import { unaryKernels } from './unary.ts';

const kernels: Readonly<Record<string, Kernel>> = {
  BatchMatMul: batchMatMul,
  ...unaryKernels,
  ...binaryKernels,
  Select: select,
  Sum: reduce('Sum'),
  Mean: reduce('Mean'),
  Max: reduce('Max'),
  Cumsum: cumsum,
  Softmax: softmax,
  LogSoftmax: logSoftmax,
  Cast: cast,
  Transpose: transpose,
  Slice: slice,
  Concat: concat,
  SplitV: splitV,
  Pack: pack,
  Unpack: unpack,
  PadV2: padV2,
  Tile: tile,
  GatherV2: gatherV2,
  UnsortedSegmentSum: unsortedSegmentSum,
  ScatterNd: scatterNd,
  Fill: fill,
  ZerosLike: zerosLike,
  OnesLike: onesLike,
  OneHot: oneHot,
  LayerNorm: norm(1),
  LayerNormGrad: normGrad(1),
  RmsNorm: norm(0),
  RmsNormGrad: normGrad(0),
  CrossEntropy: crossEntropy,
  CrossEntropyGrad: crossEntropyGrad,
  Gelu: gelu,
  GeluGrad: geluGrad,
  GatedActivation: gatedActivation,
  GatedActivationGrad: gatedActivationGrad,
  RotatePairs: rotatePairs,
  Dropout: dropout,
  AdamW: adamw,
  Attention: attention,
  AttentionGrad: attentionGrad,
};

export function installKernels(): void {
  const install = (kernelName: string, kernel: Kernel) => {
    const kernelFunc = (args: KernelArgs) =>
      args.backend.guard(() => kernel(args.attrs ? args : { ...args, attrs: {} }));
    registerKernel({ kernelName, backendName: 'simd', kernelFunc: kernelFunc as unknown as KernelFunc });
  };
  for (const { kernelName } of getKernelsForBackend('cpu'))
    if (!Object.hasOwn(kernels, kernelName)) install(kernelName, (args) => onCpu(kernelName, args));
  for (const [kernelName, kernel] of Object.entries(kernels)) install(kernelName, kernel);
}
