/** Activations, by the names configs use. Gated ones take the gate and the value: act(gate) ⊙ up. */

import type { Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { expectFloats } from './expect.ts';
import { ensureGradient, hasKernel, runKernel } from './fused.ts';

/** act(x); with a second operand, of the same shape, act(x) ⊙ up. Throws PosencError for others and where one is not float32. */
type Activation = (x: Tensor2D, up?: Tensor2D) => Tensor2D;
type Kind = 'gelu' | 'gelu-tanh' | 'silu';

/** `composed`, or one kernel where the backend has it. */
function smooth(kind: Kind, composed: (x: Tensor2D) => Tensor2D): Activation {
  return (x, up) => {
    expectFloats(kind, { x: [x], ...(up && { up: [up, x.shape] }) });
    if (up) return hasKernel('GatedActivation') ? gated(kind, x, up) : tf.mul<Tensor2D>(composed(x), up);
    if (!hasKernel('Gelu')) return composed(x);
    ensureGradient('Gelu', {
      inputs: ['x'],
      outputs: [],
      backward: ([dy], [u], attributes) => ({ x: runKernel('GeluGrad', { dy: dy!, x: u! }, attributes)[0]! }),
    });
    return runKernel('Gelu', { x }, { kind })[0] as Tensor2D;
  };
}

function gated(kind: Kind, gate: Tensor2D, up: Tensor2D): Tensor2D {
  ensureGradient('GatedActivation', {
    inputs: ['gate', 'up'],
    outputs: [],
    backward([dy], [g, u], attributes) {
      const [dGate, dUp] = runKernel('GatedActivationGrad', { dy: dy!, gate: g!, up: u! }, attributes);
      return { gate: dGate!, up: dUp! };
    },
  });
  return runKernel('GatedActivation', { gate, up }, { kind })[0] as Tensor2D;
}

const silu = smooth('silu', (x) => tf.mul(x, tf.sigmoid(x)));

/** x·Φ(x), Φ the normal distribution function (Hendrycks & Gimpel 2016, 1606.08415). */
const gelu = smooth('gelu', (x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1)));

/** The tanh approximation (GPT-2), written with a sigmoid: ½(1 + tanh u) = σ(2u). */
const geluTanh = smooth('gelu-tanh', (x) =>
  tf.mul(
    x,
    tf.sigmoid(
      tf.mul(x, tf.add(tf.mul(tf.square(x), 2 * 0.044715 * Math.sqrt(2 / Math.PI)), 2 * Math.sqrt(2 / Math.PI))),
    ),
  ),
);

export const activations: Readonly<Record<string, { readonly gated: boolean; readonly apply: Activation }>> = {
  relu: { gated: false, apply: (x) => tf.relu(x) },
  gelu: { gated: false, apply: gelu },
  'gelu-tanh': { gated: false, apply: geluTanh },
  swiglu: { gated: true, apply: silu },
  geglu: { gated: true, apply: gelu },
  'geglu-tanh': { gated: true, apply: geluTanh },
};
