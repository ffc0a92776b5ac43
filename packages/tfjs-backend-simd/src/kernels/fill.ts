/** Tensors made from next to nothing: Fill, ZerosLike, OnesLike, OneHot. */
import { util } from '@tensorflow/tfjs-core';
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

type Numeric = 'float32' | 'int32' | 'bool';
const isNumeric = (dtype: unknown): dtype is Numeric => dtype === 'float32' || dtype === 'int32' || dtype === 'bool';

export const fill: Kernel = (args) => {
  const { backend, attrs } = args;
  const value = attrs.value as number | string;
  const dtype = attrs.dtype ?? util.inferDtype(value);
  if (!isNumeric(dtype)) return onCpu('Fill', args);
  const out = backend.output(attrs.shape as number[], dtype);
  backend.view(out).fill(Number(value));
  return out;
};

const like =
  (name: 'ZerosLike' | 'OnesLike', value: number): Kernel =>
  (args) => {
    const x = args.inputs.x!;
    if (!isNumeric(x.dtype)) return onCpu(name, args);
    const out = args.backend.output(x.shape, x.dtype);
    args.backend.view(out).fill(value);
    return out;
  };

export const zerosLike = like('ZerosLike', 0);
export const onesLike = like('OnesLike', 1);

/** Indices outside [0, depth) give a row of offValue. */
export const oneHot: Kernel = ({ inputs, backend, attrs }) => {
  const indices = inputs.indices!;
  const depth = Number(attrs.depth);
  const out = backend.output([...indices.shape, depth], attrs.dtype as Numeric);
  const [values, at] = [backend.view(out), backend.view(indices)];
  values.fill(Number(attrs.offValue));
  for (let i = 0; i < sizeOf(indices.shape); i++)
    if (at[i]! >= 0 && at[i]! < depth) values[i * depth + at[i]!] = Number(attrs.onValue);
  return out;
};
