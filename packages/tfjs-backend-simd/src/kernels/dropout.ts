/** Dropout: x → 0 or x/(1 − rate), by the mask of core/kernels/dropout.ts. */
import { type Kernel, type KernelArgs, sizeOf } from './kernel.ts';

const grain = 2048;

/** What assembly/dropout.ts reads of a mask: the key, rate·2³² and 1/(1 − rate). Rate 0: nothing is dropped. */
export function maskArguments(attrs: KernelArgs['attrs']): [number, number, number, number] {
  const rate = Number(attrs.rate ?? 0);
  return [Number(attrs.keyLow ?? 0), Number(attrs.keyHigh ?? 0), Math.round(rate * 2 ** 32), 1 / (1 - rate)];
}

export const dropout: Kernel = ({ inputs, backend, attrs }) => {
  const x = inputs.x!;
  const y = backend.output(x.shape);
  const addresses = [x, y].map((info) => backend.address(info));
  backend.pool.run('dropout', Math.ceil(sizeOf(x.shape) / 4), grain, [...addresses, ...maskArguments(attrs)]);
  return y;
};
