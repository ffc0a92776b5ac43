/** Any permutation of axes, of float32 and int32. Axes that stay side by side are one axis; of the rest at most four differ. */
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

const worthSharing = 16_384;

export const transpose: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  const perm = attrs.perm as number[];
  const shape = perm.map((axis) => x.shape[axis]!);
  const axes = collapse(x.shape, perm);
  if (axes.every(({ inStride, outStride }) => inStride === outStride)) return backend.alias(x, shape);
  const turned = axes.filter(({ inStride, outStride }) => inStride !== 1 && outStride !== 1);
  if ((x.dtype !== 'float32' && x.dtype !== 'int32') || turned.length > 3 || sizeOf(shape) === 0)
    return onCpu('Transpose', args);
  const out = backend.output(shape, x.dtype);
  const [from, to] = [backend.address(x), backend.address(out)];
  const [d0, d1, d2] = [turned.at(-3) ?? single, turned.at(-2) ?? single, turned.at(-1) ?? single];
  const outer = d0.extent * d1.extent * d2.extent;
  const inStrides = [d0.inStride, d1.inStride, d2.inStride];
  const inner = axes.at(-1)!;
  if (inner.inStride === 1) {
    backend.pool.run('transposeRows', outer, Math.ceil(worthSharing / inner.extent), [
      ...[from, to, d1.extent, d2.extent, inner.extent, ...inStrides],
    ]);
    return out;
  }
  const j = axes.find(({ inStride }) => inStride === 1)!;
  const strip = backend.pool.call('transposeStrip');
  backend.pool.run(
    'transposeTurn',
    outer * Math.ceil(j.extent / strip),
    Math.ceil(worthSharing / (inner.extent * Math.min(strip, j.extent))),
    [
      ...[from, to, d1.extent, d2.extent, ...inStrides, d0.outStride, d1.outStride, d2.outStride],
      ...[j.extent, j.outStride, inner.extent, inner.inStride],
    ],
  );
  return out;
};

interface Axis {
  readonly extent: number;
  readonly inStride: number;
  readonly outStride: number;
}
const single: Axis = { extent: 1, inStride: 0, outStride: 0 };

/** The axes in their new order, those of length 1 left out, neighbours before and after joined. */
function collapse(shape: readonly number[], perm: readonly number[]): Axis[] {
  const axes: Axis[] = [];
  let size = 1;
  for (const axis of perm.toReversed()) {
    const extent = shape[axis]!;
    if (extent === 1) continue;
    const inStride = sizeOf(shape.slice(axis + 1));
    const right = axes[0];
    if (right && inStride === right.inStride * right.extent)
      axes[0] = { extent: extent * right.extent, inStride: right.inStride, outStride: right.outStride };
    else axes.unshift({ extent, inStride, outStride: size });
    size *= extent;
  }
  return axes;
}
