/** Sum, Mean and Max of float32 over any axes: over neighbouring ones in place, else after a transpose. */
import { util } from '@tensorflow/tfjs-core';
import type { SimdBackend } from '../backend.ts';
import { call, type Kernel, onCpu, sizeOf } from './kernel.ts';

type Kind = 'Sum' | 'Mean' | 'Max';

const worthSharing = 16_384;

export const reduce =
  (kind: Kind): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const x = inputs.x!;
    const asked = kind === 'Max' ? attrs.reductionIndices : attrs.axis;
    const axes = util
      .parseAxisParam((asked ?? [...x.shape.keys()]) as number | number[], x.shape)
      .sort((a, b) => a - b);
    const size = sizeOf(x.shape);
    if (x.dtype !== 'float32' || size === 0) return onCpu(kind, args);
    const dropped = x.shape.filter((_, axis) => !axes.includes(axis));
    const shape = attrs.keepDims ? x.shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent)) : dropped;
    const out = backend.output(shape);
    const long = axes.filter((axis) => x.shape[axis]! > 1);
    if (isRun(long, x.shape)) {
      const [first, last] = [long[0] ?? 0, long.at(-1) ?? -1];
      const r = sizeOf(x.shape.slice(first, last + 1));
      reduceAt(
        backend,
        kind,
        backend.address(x),
        backend.address(out),
        sizeOf(x.shape.slice(0, first)),
        r,
        sizeOf(x.shape.slice(last + 1)),
      );
    } else {
      const kept = [...x.shape.keys()].filter((axis) => !axes.includes(axis));
      const turned = call(backend, 'Transpose', { x }, { perm: [...kept, ...axes] });
      const rows = sizeOf(dropped);
      reduceAt(backend, kind, backend.address(turned), backend.address(out), rows, size / rows, 1);
      backend.disposeData(turned.dataId);
    }
    return out;
  };

/** No longer axis lies between the reduced ones. */
const isRun = (axes: readonly number[], shape: readonly number[]) =>
  axes.every((axis, i) => i === 0 || sizeOf(shape.slice(axes[i - 1]! + 1, axis)) === 1);

/** [outer, r, inner] at one address → [outer, inner] at another. */
export function reduceAt(
  { pool }: SimdBackend,
  kind: Kind,
  from: number,
  to: number,
  outer: number,
  r: number,
  inner: number,
): void {
  const maximum = kind === 'Max' ? 1 : 0;
  const scale = kind === 'Mean' ? 1 / r : 1;
  const grain = (work: number) => Math.ceil(worthSharing / work);
  if (inner === 1) {
    pool.run('reduceRows', outer, grain(r), [maximum, from, to, r, scale]);
    return;
  }
  const strip = pool.call('reduceStrip');
  const strips = Math.ceil(inner / strip);
  pool.run('reduceColumns', outer * strips, grain(r * Math.min(strip, inner)), [
    ...[maximum, from, to, r, inner, strips, scale],
  ]);
}
