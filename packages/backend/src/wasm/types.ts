/**
 * Which element types the stock kernels take. Given another, they print a warning and return whatever was in memory,
 * or write four-byte results into one-byte tensors and past their end; reductions of nothing return what was in memory
 * too, and a transpose of nothing divides by zero. Such calls go to the cpu kernel.
 */
import { type DataType, util } from '@tensorflow/tfjs';
import { onCpu } from './fallback.ts';
import type { Kernel } from './memory.ts';

const floats: DataType[] = ['float32'];
const numbers: DataType[] = ['float32', 'int32'];
const all: DataType[] = ['float32', 'int32', 'bool'];

const families: readonly (readonly [DataType[], string])[] = [
  [floats, 'Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Expm1 Floor IsFinite IsInf'],
  [floats, 'IsNan LeakyRelu Log Log1p Neg Reciprocal Relu Round Rsqrt Selu Sigmoid Sin Sinh Softplus Sqrt'],
  [floats, 'Square Step Tan RealDiv FloorDiv Mod Atan2'],
  [numbers, 'Sum Add AddN Sub Multiply SquaredDifference Reverse Cumsum Cumprod TopK'],
  [all, 'Max Min Mean Prod All Any Transpose'],
];

/** The element types each of these kernels may be called with. */
export const accepted: ReadonlyMap<string, readonly DataType[]> = new Map(
  families.flatMap(([types, names]) => names.split(' ').map((name) => [name, types] as const)),
);

/** The stock kernel for these element types, else the cpu kernel. */
export const only =
  (types: readonly DataType[]) =>
  (stock: Kernel, name: string): Kernel =>
  (args) =>
    Object.values(args.inputs).every(({ dtype, shape }) => types.includes(dtype) && util.sizeFromShape(shape) > 0)
      ? stock(args)
      : onCpu(name, args);

/** Select, whose condition is always bool: here the two choices must not be. */
export const select =
  (stock: Kernel, name: string): Kernel =>
  (args) =>
    args.inputs.t!.dtype === 'bool' ? onCpu(name, args) : stock(args);
