/** Cast to bool: 1 wherever the value is not 0 (stock keeps the lowest byte, so 256 → 0). */
import { elements, type Kernel } from './memory.ts';

export const cast =
  (stock: Kernel): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const x = inputs.x!;
    if (attrs.dtype !== 'bool' || x.dtype === 'bool') return stock(args);
    const out = backend.makeOutput(x.shape, 'bool');
    const to = elements(backend, out);
    elements(backend, x).forEach((value, i) => {
      to[i] = value === 0 ? 0 : 1;
    });
    return out;
  };
