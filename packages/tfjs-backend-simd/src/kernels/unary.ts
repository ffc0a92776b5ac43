/** Elementwise functions of one float32 tensor. Other types run on the cpu backend. */
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

/** The order of assembly/unary.ts. */
const names = [
  ...['Abs', 'Neg', 'Square', 'Sqrt', 'Rsqrt', 'Reciprocal', 'Exp', 'Log'],
  ...['Sigmoid', 'Tanh', 'Erf', 'Relu', 'Step', 'Log1p', 'Floor', 'Ceil', 'Round'],
];

/** Groups of four that are worth a thread's while. */
const grain = 4096;

const unary =
  (name: string, op: number): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const x = inputs.x!;
    if (x.dtype !== 'float32') return onCpu(name, args);
    const y = backend.output(x.shape);
    const groups = Math.ceil(sizeOf(x.shape) / 4);
    backend.pool.run('unary', groups, grain, [op, backend.address(x), backend.address(y), Number(attrs.alpha ?? 0)]);
    return y;
  };

export const unaryKernels = Object.fromEntries(names.map((name, op) => [name, unary(name, op)]));
