/** Cast between numbers. The cpu kernel shares the data when nothing is lost; here an int32 is not a float32. */
import { type Kernel, onCpu } from './kernel.ts';

const numeric = ['float32', 'int32', 'bool'];

export const cast: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  const dtype = attrs.dtype as 'float32' | 'int32' | 'bool';
  if (!numeric.includes(x.dtype) || !numeric.includes(dtype)) return onCpu('Cast', args);
  if (x.dtype === dtype) return backend.alias(x, x.shape);
  const out = backend.output(x.shape, dtype);
  const [from, to] = [backend.view(x), backend.view(out)];
  if (dtype === 'bool') for (let i = 0; i < from.length; i++) to[i] = from[i] === 0 ? 0 : 1;
  else to.set(from);
  return out;
};
