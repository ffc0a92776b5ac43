/**
 * What the inputs of kernels must be, held against them before one runs. A fused kernel reads the memory of its inputs as its
 * sizes say, whatever is there; its composed twin broadcasts, or casts. So neither is asked before both would agree.
 */

import type { Tensor } from '@tensorflow/tfjs';
import { PosencError } from '../errors.ts';

/** A size that must be so, or the letter of one that may be any. */
type Size = number | string;

/** Throws PosencError unless each of the tensors is float32 and, where a shape is given with it, of that shape. */
export function expectFloats(
  caller: string,
  tensors: Readonly<Record<string, readonly [tensor: Tensor, shape?: readonly Size[]]>>,
): void {
  for (const [name, [tensor, wanted]] of Object.entries(tensors)) {
    const { dtype, shape } = tensor;
    const fits = !wanted || (shape.length === wanted.length && shape.every((size, axis) => alike(size, wanted[axis]!)));
    if (dtype === 'float32' && fits) continue;
    const asked = wanted ? `float32 [${wanted.join(', ')}]` : 'float32';
    throw new PosencError(`${caller}: ${name} is ${dtype} [${shape.join(', ')}], and ${asked} is wanted`);
  }
}

const alike = (size: number, wanted: Size): boolean => typeof wanted === 'string' || size === wanted;
