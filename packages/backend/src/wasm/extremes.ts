/**
 * Maximum, Minimum, ClipByValue and Relu6 in JavaScript: NaN stays NaN (stock: max(1, NaN) = 1, clip(NaN, −1, 1) = −1, so a
 * diverged run could look healthy).
 */
import * as tf from '@tensorflow/tfjs';
import { onCpu } from './fallback.ts';
import { call, elements, type Kernel, type KernelArgs, reshaped } from './memory.ts';

type Loop = (a: ArrayLike<number>, b: ArrayLike<number>, out: Float32Array | Int32Array | Uint8Array) => void;

const largest: Loop = (a, b, out) => {
  for (let i = 0; i < out.length; i++) out[i] = Math.max(a[i]!, b[i]!);
};
const smallest: Loop = (a, b, out) => {
  for (let i = 0; i < out.length; i++) out[i] = Math.min(a[i]!, b[i]!);
};

/** Stretches both operands to the whole shape, then one loop. */
function pairwise({ inputs, backend }: KernelArgs, loop: Loop): tf.TensorInfo {
  const shape = tf.broadcast_util.assertAndGetBroadcastShape(inputs.a!.shape, inputs.b!.shape);
  const stretched: tf.TensorInfo[] = [];
  const whole = (x: tf.TensorInfo) => {
    const own = [...Array<number>(shape.length - x.shape.length).fill(1), ...x.shape];
    const reps = own.map((size, axis) => (size === 1 ? shape[axis]! : 1));
    if (reps.every((count) => count === 1)) return x;
    const wide = call(backend, 'Tile', { x: reshaped(x, own) }, { reps });
    stretched.push(wide);
    return wide;
  };
  const [a, b] = [whole(inputs.a!), whole(inputs.b!)];
  const out = backend.makeOutput(shape, a.dtype);
  loop(elements(backend, a), elements(backend, b), elements(backend, out));
  for (const x of stretched) backend.disposeData(x.dataId);
  return out;
}

export const maximum: Kernel = (args) => pairwise(args, largest);
export const minimum: Kernel = (args) => pairwise(args, smallest);

export const clipByValue: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  const { clipValueMin: low, clipValueMax: high } = attrs as { clipValueMin: number; clipValueMax: number };
  if (x.dtype !== 'float32') return onCpu('ClipByValue', { inputs, backend, attrs });
  const out = backend.makeOutput(x.shape, 'float32');
  const from = elements(backend, x);
  const to = elements(backend, out);
  for (let i = 0; i < to.length; i++) to[i] = Math.max(low, Math.min(high, from[i]!));
  return out;
};

export const relu6: Kernel = (args) => clipByValue({ ...args, attrs: { clipValueMin: 0, clipValueMax: 6 } });
