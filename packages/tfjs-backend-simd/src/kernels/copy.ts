/** Slice, Concat, SplitV, Pack, Unpack, PadV2, Tile: runs of memory from one place to another, for numbers of any type. */
import { slice_util, type TensorInfo, util } from '@tensorflow/tfjs-core';
import type { SimdBackend } from '../backend.ts';
import { type Kernel, onCpu, reshaped, sizeOf } from './kernel.ts';

type Numeric = 'float32' | 'int32' | 'bool';
const isNumeric = (x: TensorInfo) => x.dtype === 'float32' || x.dtype === 'int32' || x.dtype === 'bool';
const bytesOf = (x: TensorInfo) => util.bytesPerElement(x.dtype);

const bytesWorthSharing = 131_072;

/** `rows` runs of `bytes` bytes. */
function copyRows(
  { pool }: SimdBackend,
  [from, to]: readonly [number, number],
  [fromStride, toStride]: readonly [number, number],
  rows: number,
  bytes: number,
): void {
  if (rows > 0 && bytes > 0)
    pool.run('copyRows', rows, Math.ceil(bytesWorthSharing / bytes), [from, to, fromStride, toStride, bytes]);
}

/** A block of extents `size`, which begins at element `begin` of `from` [fromShape] and at `at` of `to` [toShape]. */
function copyBlock(
  backend: SimdBackend,
  from: { readonly info: TensorInfo; readonly shape: readonly number[]; readonly begin: readonly number[] },
  to: { readonly info: TensorInfo; readonly shape: readonly number[]; readonly begin: readonly number[] },
  size: readonly number[],
): void {
  if (sizeOf(size) === 0) return;
  const width = bytesOf(from.info);
  const [strideFrom, strideTo] = [stridesOf(from.shape), stridesOf(to.shape)];
  const start = (side: typeof from, strides: readonly number[]) =>
    backend.address(side.info) + width * side.begin.reduce((sum, index, axis) => sum + index * strides[axis]!, 0);
  // The trailing axes that are whole on both sides are one run, and so is the axis before them.
  let inner = size.length;
  while (inner > 0 && size[inner - 1] === from.shape[inner - 1] && size[inner - 1] === to.shape[inner - 1]) inner--;
  const run = Math.max(0, inner - 1);
  const bytes = width * sizeOf(size.slice(run));
  const rowAxis = run - 1;
  const rows = rowAxis >= 0 ? size[rowAxis]! : 1;
  const strides = [width * (strideFrom[rowAxis] ?? 0), width * (strideTo[rowAxis] ?? 0)] as const;
  const outer = size.slice(0, Math.max(0, rowAxis));
  const [firstFrom, firstTo] = [start(from, strideFrom), start(to, strideTo)];
  const index = outer.map(() => 0);
  for (let left = sizeOf(outer); left > 0; left--) {
    const offset = (strides: readonly number[]) => width * index.reduce((sum, i, axis) => sum + i * strides[axis]!, 0);
    copyRows(backend, [firstFrom + offset(strideFrom), firstTo + offset(strideTo)], strides, rows, bytes);
    for (let axis = outer.length - 1; axis >= 0 && ++index[axis]! === outer[axis]; axis--) index[axis] = 0;
  }
}

function stridesOf(shape: readonly number[]): number[] {
  return shape.map((_, axis) => sizeOf(shape.slice(axis + 1)));
}

function sliced(backend: SimdBackend, x: TensorInfo, begin: readonly number[], size: number[]): TensorInfo {
  const out = backend.output(size, x.dtype as Numeric);
  const to = { info: out, shape: size, begin: size.map(() => 0) };
  copyBlock(backend, { info: x, shape: x.shape, begin }, to, size);
  return out;
}

export const slice: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  if (!isNumeric(x)) return onCpu('Slice', args);
  const [begin, size] = slice_util.parseSliceParams(x as never, attrs.begin as number[], attrs.size as number[]);
  slice_util.assertParamsValid(x as never, begin!, size!);
  return sliced(backend, x, begin!, size!);
};

export const concat: Kernel = (args) => {
  const inputs = Object.values(args.inputs);
  const { backend, attrs } = args;
  const axis = util.parseAxisParam(attrs.axis as number, inputs[0]!.shape)[0]!;
  const same = inputs.every((x) => isNumeric(x) && x.dtype === inputs[0]!.dtype);
  const rest = (x: TensorInfo) => x.shape.filter((_, i) => i !== axis).join();
  if (!same || inputs.some((x) => rest(x) !== rest(inputs[0]!))) return onCpu('Concat', args);
  const shape = inputs[0]!.shape.slice();
  shape[axis] = inputs.reduce((sum, x) => sum + x.shape[axis]!, 0);
  const out = backend.output(shape, inputs[0]!.dtype as Numeric);
  const outer = sizeOf(shape.slice(0, axis));
  const width = bytesOf(out) * sizeOf(shape.slice(axis + 1));
  let to = backend.address(out);
  for (const x of inputs) {
    const bytes = width * x.shape[axis]!;
    copyRows(backend, [backend.address(x), to], [bytes, width * shape[axis]], outer, bytes);
    to += bytes;
  }
  return out;
};

export const splitV: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  if (!isNumeric(x)) return onCpu('SplitV', args);
  const axis = util.parseAxisParam(attrs.axis as number, x.shape)[0]!;
  const sizes = splitSizes(attrs.numOrSizeSplits as number | number[], x.shape[axis]!);
  let start = 0;
  return sizes.map((size) => {
    const begin = x.shape.map((_, i) => (i === axis ? start : 0));
    start += size;
    return sliced(
      backend,
      x,
      begin,
      x.shape.map((extent, i) => (i === axis ? size : extent)),
    );
  });
};

/** One of the sizes may be −1: what the others leave. */
function splitSizes(asked: number | readonly number[], extent: number): number[] {
  const sizes = typeof asked === 'number' ? Array<number>(asked).fill(extent / asked) : asked.slice();
  const open = sizes.indexOf(-1);
  if (open >= 0 && open === sizes.lastIndexOf(-1)) sizes[open] = extent - sizes.reduce((sum, size) => sum + size, 1);
  if (!sizes.every((size) => size >= 0 && Number.isInteger(size)) || sizes.reduce((a, b) => a + b, 0) !== extent)
    throw new Error(
      `split: an axis of ${extent} cannot be cut into ${typeof asked === 'number' ? asked : `[${asked}]`}`,
    );
  return sizes;
}

/** Tensors of one shape along a new axis. */
export const pack: Kernel = (args) => {
  const inputs = Object.values(args.inputs);
  const { shape } = inputs[0]!;
  const asked = Number(args.attrs.axis);
  const axis = asked < 0 ? asked + shape.length + 1 : asked;
  if (inputs.some((x) => !isNumeric(x) || x.dtype !== inputs[0]!.dtype || x.shape.join() !== shape.join()))
    return onCpu('Pack', args);
  const longer = inputs.map((x, i) => [i, reshaped(x, shape.toSpliced(axis, 0, 1))]);
  return concat({ ...args, inputs: Object.fromEntries(longer), attrs: { axis } });
};

/** The slices along an axis, without it. */
export const unpack: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.value!;
  if (!isNumeric(x)) return onCpu('Unpack', args);
  const axis = util.parseAxisParam(attrs.axis as number, x.shape)[0]!;
  const size = x.shape.with(axis, 1);
  const shape = x.shape.toSpliced(axis, 1);
  return Array.from({ length: x.shape[axis]! }, (_, i) => {
    const begin = x.shape.map((_, other) => (other === axis ? i : 0));
    return { ...sliced(backend, x, begin, size), shape };
  });
};

export const padV2: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  const paddings = attrs.paddings as [number, number][];
  if (!isNumeric(x)) return onCpu('PadV2', args);
  const shape = x.shape.map((extent, axis) => extent + paddings[axis]![0] + paddings[axis]![1]);
  const out = backend.output(shape, x.dtype as Numeric);
  backend.view(out).fill(Number(attrs.constantValue));
  const begin = paddings.map(([before]) => before);
  copyBlock(backend, { info: x, shape: x.shape, begin: begin.map(() => 0) }, { info: out, shape, begin }, x.shape);
  return out;
};

/** [..., n, ...] → [..., r·n, ...], one axis after another, the last first: what is copied is then already long. */
export const tile: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  if (!isNumeric(x)) return onCpu('Tile', args);
  let current = backend.alias(x, x.shape);
  for (let axis = x.shape.length - 1; axis >= 0; axis--) {
    const times = (attrs.reps as number[])[axis]!;
    if (times === 1) continue;
    const shape = current.shape.map((extent, i) => (i === axis ? extent * times : extent));
    const out = backend.output(shape, x.dtype as Numeric);
    const bytes = bytesOf(x) * sizeOf(current.shape.slice(axis));
    const outer = sizeOf(shape.slice(0, axis));
    const [from, to] = [backend.address(current), backend.address(out)];
    // Few long rows go row by row, each repeated; many short ones repetition by repetition.
    if (outer < times)
      for (let i = 0; i < outer; i++)
        copyRows(backend, [from + i * bytes, to + i * times * bytes], [0, bytes], times, bytes);
    else
      for (let i = 0; i < times; i++) copyRows(backend, [from, to + i * bytes], [bytes, times * bytes], outer, bytes);
    backend.disposeData(current.dataId);
    current = out;
  }
  return current;
};
