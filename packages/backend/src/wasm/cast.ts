/** Cast. To its own type: an alias. To bool: 1 wherever the value is not 0 (stock keeps the lowest byte, so 256 → 0). */
import type { DataType } from '@tensorflow/tfjs';
import { alias, elements, type Kernel } from './memory.ts';

export const cast =
  (stock: Kernel): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const x = inputs.x!;
    const dtype = attrs.dtype as DataType;
    if (dtype === x.dtype) return alias(backend, x, x.shape);
    if (dtype !== 'bool') return stock(args);
    const out = backend.makeOutput(x.shape, 'bool');
    const to = elements(backend, out);
    elements(backend, x).forEach((value, i) => {
      to[i] = value === 0 ? 0 : 1;
    });
    return out;
  };
