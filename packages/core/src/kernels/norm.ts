/** Normalisations over the last axis, with hand-written gradients: half the ops of differentiating the composition. */

import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { expectFloats } from './expect.ts';
import { ensureGradient, hasKernel, runKernel } from './fused.ts';

/** standardize(x)·gain + bias. gain, bias: [D]. Throws PosencError for other shapes, and where anything is not float32. */
export function layerNorm<T extends Tensor>(x: T, gain: Tensor, bias: Tensor | undefined, epsilon: number): T {
  const wanted = [x.shape.at(-1) ?? 'D'];
  expectFloats('layerNorm', { x: [x], gain: [gain, wanted], ...(bias && { bias: [bias, wanted] }) });
  if (hasKernel('LayerNorm')) return fusedNorm('LayerNorm', x, gain, bias, epsilon);
  const scaled = tf.mul(standardize(x, epsilon), gain);
  return (bias ? tf.add(scaled, bias) : scaled) as T;
}

/** rmsStandardize(x)·gain. gain: [D]. Throws PosencError for another shape, and where anything is not float32. */
export function rmsNorm<T extends Tensor>(x: T, gain: Tensor, epsilon: number): T {
  expectFloats('rmsNorm', { x: [x], gain: [gain, [x.shape.at(-1) ?? 'D']] });
  if (hasKernel('RmsNorm')) return fusedNorm('RmsNorm', x, gain, undefined, epsilon);
  return tf.mul(rmsStandardize(x, epsilon), gain) as T;
}

function fusedNorm<T extends Tensor>(
  name: 'LayerNorm' | 'RmsNorm',
  x: T,
  gain: Tensor,
  bias: Tensor | undefined,
  epsilon: number,
): T {
  ensureGradient(name, {
    inputs: ['x', 'gain'],
    outputs: [false, true, true],
    backward([dy], [x, gain, mean, rstd]) {
      const inputs = { dy: dy!, x: x!, gain: gain!, mean: mean!, rstd: rstd! };
      const [dx, dgain, dbias] = runKernel(`${name}Grad`, inputs);
      return { x: dx!, gain: dgain!, bias: dbias! };
    },
  });
  return runKernel(name, { x, gain, ...(bias && { bias }) }, { epsilon })[0] as T;
}

/** x̂ = (x − mean) / √(var + eps) over the last axis (Ba 2016, 1607.06450); gain and bias are applied by the caller. */
export function standardize<T extends Tensor>(x: T, eps: number): T {
  const op = tf.customGrad((input, save) => {
    const u = input as Tensor;
    const centred = tf.sub(u, tf.mean(u, -1, true));
    const rstd = tf.rsqrt(tf.add(tf.mean(tf.square(centred), -1, true), eps));
    const value = tf.mul(centred, rstd);
    (save as tf.GradSaveFunc)([value, rstd]);
    const gradFunc = (dy: Tensor, saved: Tensor[]) => {
      const [y, r] = saved as [Tensor, Tensor];
      const along = tf.mul(y, tf.mean(tf.mul(dy, y), -1, true));
      return tf.mul(tf.sub(tf.sub(dy, tf.mean(dy, -1, true)), along), r);
    };
    return { value, gradFunc };
  });
  return op(x) as T;
}

/** x̂ = x / √(mean(x²) + eps) over the last axis (Zhang & Sennrich 2019, 1910.07467). */
export function rmsStandardize<T extends Tensor>(x: T, eps: number): T {
  const op = tf.customGrad((input, save) => {
    const u = input as Tensor;
    const rstd = tf.rsqrt(tf.add(tf.mean(tf.square(u), -1, true), eps));
    const value = tf.mul(u, rstd);
    (save as tf.GradSaveFunc)([value, rstd]);
    const gradFunc = (dy: Tensor, saved: Tensor[]) => {
      const [y, r] = saved as [Tensor, Tensor];
      return tf.mul(tf.sub(dy, tf.mul(y, tf.mean(tf.mul(dy, y), -1, true))), r);
    };
    return { value, gradFunc };
  });
  return op(x) as T;
}
