/** OneHot in the type asked for: stock writes integers into a float32 tensor, where 1 reads as 1.4e-45. */
import type { DataType } from '@tensorflow/tfjs';
import { elements, type Kernel } from './memory.ts';

export const oneHot: Kernel = ({ inputs, backend, attrs }) => {
  const indices = inputs.indices!;
  const { depth, onValue, offValue } = attrs as { depth: number; onValue: number; offValue: number };
  const out = backend.makeOutput([...indices.shape, depth], attrs.dtype as DataType);
  const to = elements(backend, out).fill(offValue);
  elements(backend, indices).forEach((index, row) => {
    if (index >= 0 && index < depth) to[row * depth + index] = onValue;
  });
  return out;
};
