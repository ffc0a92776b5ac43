/** Cumsum of float32 along the last axis. */
import { util } from '@tensorflow/tfjs-core';
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

const worthSharing = 8192;

export const cumsum: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const x = inputs.x!;
  const n = x.shape.at(-1) ?? 1;
  const axis = x.shape.length ? util.parseAxisParam(attrs.axis as number, x.shape)[0]! : 0;
  if (x.dtype !== 'float32' || axis < x.shape.length - 1 || sizeOf(x.shape) === 0) return onCpu('Cumsum', args);
  const y = backend.output(x.shape);
  backend.pool.run('cumulativeSum', sizeOf(x.shape) / n, Math.ceil(worthSharing / n), [
    ...[backend.address(x), backend.address(y), n, Number(attrs.exclusive), Number(attrs.reverse)],
  ]);
  return y;
};
