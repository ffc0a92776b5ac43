/**
 * Broadcasting for the binary kernels that are not XNNPACK's. The stock loop is fast for equal shapes and for a
 * shorter shape that repeats ([B, T] with [T]), but takes 45 ns per element when an axis of length 1 is stretched
 * ([B, T] with [B, 1]). So: stretch first with Tile, then the fast loop.
 */
import * as tf from '@tensorflow/tfjs';
import { onCpu } from './fallback.ts';
import { call, type Kernel, reshaped } from './memory.ts';

/** Kernel names. The integer remainder of stock aborts the module on a division by 0. */
export const binary = 'Pow FloorDiv Mod Atan2 LogicalAnd LogicalOr LogicalXor'
  .concat(' Equal NotEqual Greater GreaterEqual Less LessEqual')
  .split(' ');
const needFloats = ['FloorDiv', 'Mod', 'Atan2'];

export const broadcastFirst =
  (stock: Kernel, name: string): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    if (needFloats.includes(name) && inputs.a!.dtype !== 'float32') return onCpu(name, args);
    const a = inputs.a!;
    const b = inputs.b!;
    const shape = tf.broadcast_util.assertAndGetBroadcastShape(a.shape, b.shape);
    const stretched: tf.TensorInfo[] = [];
    const [A, B] = [a, b].map((x) => {
      const reps = x.shape.map((size, axis) => (size === 1 ? shape[shape.length - x.shape.length + axis]! : 1));
      if (reps.every((count) => count === 1)) return x;
      const wide = call(backend, 'Tile', { x }, { reps });
      stretched.push(wide);
      return wide;
    });
    const out = stock({ inputs: { a: A!, b: B! }, backend, attrs }) as tf.TensorInfo;
    for (const x of stretched) backend.disposeData(x.dataId);
    return reshaped(out, shape);
  };
