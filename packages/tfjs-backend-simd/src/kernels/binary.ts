/** Elementwise functions of two float32 tensors that broadcast, sums and products of int32, and Select. The rest runs on the cpu backend. */
import { broadcast_util } from '@tensorflow/tfjs-core';
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

/** The order of assembly/binary.ts: floats, integers, comparisons. */
const arithmetic = ['Add', 'Sub', 'Multiply', 'RealDiv', 'Maximum', 'Minimum', 'SquaredDifference'];
const ofIntegers = ['Add', 'Sub', 'Multiply'];
const comparisons = ['Greater', 'GreaterEqual', 'Less', 'LessEqual', 'Equal', 'NotEqual'];

const grain = 8192;

const numberOf = (name: string, dtype: string): number => {
  if (dtype === 'int32') return ofIntegers.includes(name) ? arithmetic.length + ofIntegers.indexOf(name) : -1;
  const comparison = comparisons.indexOf(name);
  return comparison < 0 ? arithmetic.indexOf(name) : arithmetic.length + ofIntegers.length + comparison;
};

const binary =
  (name: string): Kernel =>
  (args) => {
    const { inputs, backend } = args;
    const [a, b] = [inputs.a!, inputs.b!];
    const op = numberOf(name, a.dtype);
    if ((a.dtype !== 'float32' && a.dtype !== 'int32') || b.dtype !== a.dtype || op < 0) return onCpu(name, args);
    const shape = broadcast_util.assertAndGetBroadcastShape(a.shape, b.shape);
    const axes = collapse(shape, [a.shape, b.shape]);
    if (axes.length > 4) return onCpu(name, args);
    const out = backend.output(shape, comparisons.includes(name) ? 'bool' : a.dtype);
    const size = sizeOf(shape);
    if (size === 0) return out;
    const addresses = [backend.address(a), backend.address(b), backend.address(out)];
    if (axes.length === 1) {
      const { strides } = axes[0]!;
      backend.pool.run('binaryFlat', Math.ceil(size / 4), grain, [op, ...addresses, ...strides]);
    } else {
      const [d0, d1, d2] = [axes.at(-4) ?? single, axes.at(-3) ?? single, axes.at(-2)!];
      const inner = axes.at(-1)!;
      const strides = [0, 1].flatMap((operand) => [d0, d1, d2, inner].map((axis) => axis.strides[operand]!));
      const rows = d0.extent * d1.extent * d2.extent;
      backend.pool.run('binaryRows', rows, Math.ceil((4 * grain) / inner.extent), [
        ...[op, ...addresses, d1.extent, d2.extent, inner.extent],
        ...strides,
      ]);
    }
    return out;
  };

interface Axis {
  readonly extent: number;
  /** Elements of each operand from one index to the next; 0 where it is stretched. */
  readonly strides: readonly number[];
}
const single: Axis = { extent: 1, strides: [0, 0] };

/** Joins neighbouring axes along which every operand runs on, or every one stands still. */
function collapse(shape: readonly number[], operands: readonly (readonly number[])[]): Axis[] {
  const axes: Axis[] = [];
  const size = operands.map(() => 1);
  for (let i = 1; i <= shape.length; i++) {
    const extent = shape.at(-i)!;
    if (extent === 1) continue;
    const strides = operands.map((operand, n) => {
      const own = operand.at(-i) ?? 1;
      const stride = own === 1 ? 0 : size[n]!;
      size[n]! *= own;
      return stride;
    });
    const right = axes[0];
    if (right?.strides.every((stride, n) => strides[n] === stride * right.extent))
      axes[0] = { extent: extent * right.extent, strides: right.strides };
    else axes.unshift({ extent, strides });
  }
  return axes.length ? axes : [{ extent: 1, strides: [0, 0] }];
}

export const binaryKernels = Object.fromEntries([...arithmetic, ...comparisons].map((name) => [name, binary(name)]));

export const select: Kernel = (args) => {
  const { inputs, backend } = args;
  const { condition, t, e } = inputs;
  const same = condition!.shape.join() === t!.shape.join() && t!.shape.join() === e!.shape.join();
  if (!same || t!.dtype !== 'float32' || e!.dtype !== 'float32' || condition!.dtype !== 'bool')
    return onCpu('Select', args);
  const out = backend.output(t!.shape);
  const addresses = [condition!, t!, e!, out].map((x) => backend.address(x));
  backend.pool.run('select', Math.ceil(sizeOf(t!.shape) / 4), grain, addresses);
  return out;
};
