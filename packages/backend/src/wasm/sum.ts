/**
 * Sum over leading axes, the gradient of a bias, by halving: the lower half of the rows is added to the upper half,
 * until one row is left. Each addition is one XNNPACK call; the stock kernel transposes and then adds one by one.
 * Rounding errors grow with log₂ of the number of rows instead of the number itself.
 */
import * as tf from '@tensorflow/tfjs';
import { onCpu } from './fallback.ts';
import { type Kernel, reshaped } from './memory.ts';
import { native } from './native.ts';

export const sum =
  (stock: Kernel): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const x = inputs.x!;
    if (x.dtype === 'bool' || tf.util.sizeFromShape(x.shape) === 0) return onCpu('Sum', args);
    const axes = tf.util.parseAxisParam(attrs.axis as number | number[], x.shape);
    const reduced = (axis: number) => axes.includes(axis);
    const kept = x.shape.flatMap((size, axis) => (reduced(axis) ? [] : [size]));
    const columns = tf.util.sizeFromShape(kept);
    const rows = tf.util.sizeFromShape(x.shape) / columns;
    // Axes of length 1 are neither here nor there: the order of the others decides.
    const long = x.shape.flatMap((size, axis) => (size === 1 ? [] : [reduced(axis)]));
    const leading = long.lastIndexOf(true) < long.indexOf(false);
    if (x.dtype !== 'float32' || !leading || rows < 2 || columns < 16) return stock(args);

    const half = rows >> 1;
    const partial = backend.makeOutput([half, columns], 'float32');
    const [from, to] = [x, partial].map((info) => backend.dataIdMap.get(info.dataId).memoryOffset) as [number, number];
    const { add } = native(backend);
    const row = 4 * columns;
    add(from, from + half * row, to, half * columns);
    if (rows % 2) add(to, from + (rows - 1) * row, to, columns);
    for (let left = half; left > 1; left >>= 1) {
      const next = left >> 1;
      add(to, to + next * row, to, next * columns);
      if (left % 2) add(to, to + (left - 1) * row, to, columns);
    }
    const out = backend.makeOutput([columns], 'float32');
    backend.typedArrayFromHeap(out).set(backend.typedArrayFromHeap(reshaped(partial, [columns])));
    backend.disposeData(partial.dataId);
    return reshaped(out, attrs.keepDims ? x.shape.map((size, axis) => (reduced(axis) ? 1 : size)) : kept);
  };
