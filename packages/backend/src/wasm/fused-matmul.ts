/**
 * _FusedMatMul (tf.fused.matMul, tf.layers.dense) as BatchMatMul, Add and the activation, one after the other.
 * The stock kernel adds the bias once per block of 48 inner elements, and shares what is wrong with BatchMatMul.
 */
import type { TensorInfo } from '@tensorflow/tfjs';
import { call, type Kernel } from './memory.ts';

const activations: { readonly [name: string]: string } = {
  relu: 'Relu',
  relu6: 'Relu6',
  elu: 'Elu',
  prelu: 'Prelu',
  leakyrelu: 'LeakyRelu',
  sigmoid: 'Sigmoid',
};

export const fusedMatMul: Kernel = ({ inputs, backend, attrs }) => {
  const { a, b, bias, preluActivationWeights } = inputs;
  const { transposeA, transposeB, activation, leakyreluAlpha } = attrs;
  const then = (x: TensorInfo, name: string, others: { [input: string]: TensorInfo }, options = {}) => {
    const y = call(backend, name, { ...others }, options);
    backend.disposeData(x.dataId);
    return y;
  };
  let out = call(backend, 'BatchMatMul', { a: a!, b: b! }, { transposeA, transposeB });
  if (bias) out = then(out, 'Add', { a: out, b: bias });
  if (activation === 'linear' || activation === undefined || activation === null) return out;

  const name = activations[String(activation)];
  if (!name) throw new Error(`fused.matMul: the wasm backend has no activation '${activation}'`);
  if (name === 'Prelu') return then(out, name, { x: out, alpha: preluActivationWeights! });
  return then(out, name, { x: out, features: out }, { alpha: leakyreluAlpha });
};
