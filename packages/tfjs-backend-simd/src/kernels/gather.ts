/** GatherV2 (rows by index), UnsortedSegmentSum (rows summed by number) and ScatterNd of rows. */
import { backend_util, type TensorInfo, util } from '@tensorflow/tfjs-core';
import type { SimdBackend } from '../backend.ts';
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

export const gatherV2: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const [x, indices] = [inputs.x!, inputs.indices!];
  const batchDims = Number(attrs.batchDims ?? 0);
  const numeric = x.dtype === 'float32' || x.dtype === 'int32' || x.dtype === 'bool';
  if (batchDims !== 0 || indices.dtype !== 'int32' || !numeric) return onCpu('GatherV2', args);
  const axis = util.parseAxisParam(attrs.axis as number, x.shape)[0]!;
  const length = x.shape[axis]!;
  requireBelow(backend, 'GatherV2', indices, length);
  const shape = [...x.shape.slice(0, axis), ...indices.shape, ...x.shape.slice(axis + 1)];
  const out = backend.output(shape, x.dtype as 'float32');
  if (sizeOf(shape) === 0) return out;
  const count = sizeOf(indices.shape);
  const bytes = util.bytesPerElement(x.dtype) * sizeOf(x.shape.slice(axis + 1));
  backend.pool.run('gatherRows', sizeOf(x.shape.slice(0, axis)) * count, Math.ceil(131_072 / bytes), [
    ...[x, indices, out].map((info) => backend.address(info)),
    ...[count, length, bytes],
  ]);
  return out;
};

function requireBelow(backend: SimdBackend, name: string, indices: TensorInfo, length: number): void {
  const wrong = (backend.view(indices) as Int32Array).find((index) => index < 0 || index >= length);
  if (wrong !== undefined) throw new Error(`${name}: the index value ${wrong} is not in [0, ${length - 1}]`);
}

function sumSegments(
  backend: SimdBackend,
  x: TensorInfo,
  ids: TensorInfo,
  shape: number[],
  numRows: number,
): TensorInfo {
  const out = backend.output(shape);
  const n = sizeOf(shape.slice(1));
  const rows = sizeOf(ids.shape);
  const strip = backend.pool.call('segmentSumStrip');
  const addresses = [x, ids, out].map((info) => backend.address(info));
  if (n > 0) {
    const grain = Math.ceil(16_384 / (strip * Math.max(1, rows)));
    backend.pool.run('segmentSum', Math.ceil(n / strip), grain, [...addresses, rows, n, numRows]);
  }
  return out;
}

/** Ids outside [0, numSegments) are left out, as on the other backends. */
export const unsortedSegmentSum: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const [x, ids] = [inputs.x!, inputs.segmentIds!];
  const numSegments = Number(attrs.numSegments);
  if (x.dtype !== 'float32' || ids.dtype !== 'int32' || ids.shape.length !== 1)
    return onCpu('UnsortedSegmentSum', args);
  return sumSegments(backend, x, ids, [numSegments, ...x.shape.slice(1)], numSegments);
};

/** Indices [n, 1] name rows; other depths run on the cpu backend. */
export const scatterNd: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const [indices, updates] = [inputs.indices!, inputs.updates!];
  const shape = attrs.shape as number[];
  const { sliceRank } = backend_util.calculateShapes(updates as never, indices as never, shape);
  if (updates.dtype !== 'float32' || indices.dtype !== 'int32' || sliceRank !== 1 || sizeOf(shape) === 0)
    return onCpu('ScatterNd', args);
  requireBelow(backend, 'ScatterNd', indices, shape[0]!);
  return sumSegments(backend, updates, { ...indices, shape: [sizeOf(indices.shape)] }, shape, shape[0]!);
};
