/**
 * Slice, SplitV, Unpack, Concat and Pack as strided block copies inside WebAssembly memory. The stock kernels copy the
 * whole input to JavaScript first, or make a typed array per run: 0.5–2 ns per element and garbage, 23 ns when the
 * runs are single elements (tf.stack on the last axis, as in interleaved rotary encodings).
 */
import * as tf from '@tensorflow/tfjs';
import { alias, type Kernel, reshaped, type WasmBackend } from './memory.ts';

/** Positions and strides in elements; positions count from the start of memory. */
interface Blocks {
  readonly count: number;
  readonly run: number;
  readonly from: number;
  readonly fromStride: number;
  readonly to: number;
  readonly toStride: number;
}

function copyBlocks(heap: Int32Array | Uint8Array, { count, run, from, fromStride, to, toStride }: Blocks): void {
  for (let i = 0; i < count; i++, from += fromStride, to += toStride) {
    if (run >= 24) heap.copyWithin(to, from, from + run);
    else for (let j = 0; j < run; j++) heap[to + j] = heap[from + j]!;
  }
}

/** All of memory as elements of one width, and where a tensor starts in it. */
function memoryOf(backend: WasmBackend, dtype: tf.DataType) {
  const buffer = backend.wasm.HEAPU8.buffer;
  const heap = dtype === 'bool' ? new Uint8Array(buffer) : new Int32Array(buffer);
  const start = (x: tf.TensorInfo) => backend.dataIdMap.get(x.dataId).memoryOffset / heap.BYTES_PER_ELEMENT;
  return { heap, start };
}

function sliced(backend: WasmBackend, x: tf.TensorInfo, begin: number[], size: number[]): tf.TensorInfo {
  const cut = x.shape.findLastIndex((extent, axis) => size[axis] !== extent);
  if (cut < 0) return alias(backend, x, size);
  const out = backend.makeOutput(size, x.dtype);
  if (tf.util.sizeFromShape(size) === 0) return out;

  const { heap, start } = memoryOf(backend, x.dtype);
  const strides = [...tf.util.computeStrides(x.shape), 1];
  const run = size[cut]! * strides[cut]!;
  const rows = cut > 0 ? cut - 1 : 0;
  let to = start(out);
  /** Copies axes axis… below the position `from`; the axis before the cut is the loop inside copyBlocks. */
  function copy(axis: number, from: number): void {
    from += begin[axis]! * strides[axis]!;
    if (axis < rows) {
      for (let i = 0; i < size[axis]!; i++) copy(axis + 1, from + i * strides[axis]!);
      return;
    }
    const count = cut > 0 ? size[axis]! : 1;
    if (cut > 0) from += begin[cut]! * strides[cut]!;
    copyBlocks(heap, { count, run, from, fromStride: strides[axis]!, to, toStride: run });
    to += count * run;
  }
  copy(0, start(x));
  return out;
}

export const slice =
  (stock: Kernel): Kernel =>
  (args) => {
    const x = args.inputs.x!;
    if (x.dtype === 'string' || x.shape.length === 0) return stock(args);
    const [begin, size] = tf.slice_util.parseSliceParams(
      x,
      args.attrs.begin as number | number[],
      args.attrs.size as number[],
    ) as [number[], number[]];
    return sliced(args.backend, x, begin, size);
  };

function split(backend: WasmBackend, x: tf.TensorInfo, axis: number, sizes: number[]): tf.TensorInfo[] {
  let start = 0;
  return sizes.map((extent) => {
    const begin = x.shape.map((_, i) => (i === axis ? start : 0));
    start += extent;
    return sliced(
      backend,
      x,
      begin,
      x.shape.map((whole, i) => (i === axis ? extent : whole)),
    );
  });
}

export const splitV =
  (stock: Kernel): Kernel =>
  (args) => {
    const x = args.inputs.x!;
    if (x.dtype === 'string') return stock(args);
    const axis = tf.util.parseAxisParam(args.attrs.axis as number, x.shape)[0]!;
    const sizes = tf.backend_util.prepareSplitSize(x as tf.Tensor, args.attrs.numOrSizeSplits as number[], axis);
    return split(args.backend, x, axis, sizes);
  };

export const unpack =
  (stock: Kernel): Kernel =>
  (args) => {
    const x = args.inputs.value!;
    if (x.dtype === 'string') return stock(args);
    const axis = tf.util.parseAxisParam(args.attrs.axis as number, x.shape)[0]!;
    const shape = x.shape.toSpliced(axis, 1);
    return split(args.backend, x, axis, Array<number>(x.shape[axis]!).fill(1)).map((part) => reshaped(part, shape));
  };

function joined(backend: WasmBackend, parts: tf.TensorInfo[], axis: number): tf.TensorInfo {
  const shapes = parts.map(({ shape }) => shape);
  tf.backend_util.assertParamsConsistent(shapes, axis);
  const shape = tf.backend_util.computeOutShape(shapes, axis);
  const nonEmpty = parts.filter((part) => tf.util.sizeFromShape(part.shape) > 0);
  if (nonEmpty.length === 1) return alias(backend, nonEmpty[0]!, shape);
  const { dtype } = parts[0]!;
  const out = backend.makeOutput(shape, dtype);
  const { heap, start } = memoryOf(backend, dtype);
  const count = tf.util.sizeFromShape(shape.slice(0, axis));
  const toStride = tf.util.sizeFromShape(shape.slice(axis));
  let to = start(out);
  for (const part of nonEmpty) {
    const run = tf.util.sizeFromShape(part.shape.slice(axis));
    copyBlocks(heap, { count, run, from: start(part), fromStride: run, to, toStride });
    to += run;
  }
  return out;
}

export const concat =
  (stock: Kernel): Kernel =>
  (args) => {
    const parts = args.inputs as unknown as tf.TensorInfo[];
    if (parts[0]!.dtype === 'string') return stock(args);
    return joined(args.backend, parts, tf.util.parseAxisParam(args.attrs.axis as number, parts[0]!.shape)[0]!);
  };

export const pack =
  (stock: Kernel): Kernel =>
  (args) => {
    const parts = args.inputs as unknown as tf.TensorInfo[];
    const { shape, dtype } = parts[0]!;
    if (dtype === 'string') return stock(args);
    const axis = ((args.attrs.axis as number) + shape.length + 1) % (shape.length + 1);
    for (const part of parts) {
      tf.util.assertShapesMatch(shape, part.shape, 'stack: all tensors must have one shape');
      tf.util.assert(part.dtype === dtype, () => 'stack: all tensors must have one dtype');
    }
    return joined(
      args.backend,
      parts.map((part) => reshaped(part, shape.toSpliced(axis, 0, 1))),
      axis,
    );
  };
