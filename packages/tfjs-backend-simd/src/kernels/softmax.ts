/** Softmax and LogSoftmax along the last axis. */
import { type Kernel, onCpu, sizeOf } from './kernel.ts';

const along =
  (name: 'Softmax' | 'LogSoftmax', kernel: string, attribute: string): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const logits = inputs.logits!;
    const last = logits.shape.length - 1;
    const axis = Number(attrs[attribute] ?? -1);
    const n = logits.shape[last] ?? 1;
    if (logits.dtype !== 'float32' || (axis !== last && axis !== -1) || sizeOf(logits.shape) === 0)
      return onCpu(name, args);
    const out = backend.output(logits.shape);
    backend.pool.run(kernel, sizeOf(logits.shape) / n, Math.ceil(4096 / n), [
      ...[backend.address(logits), backend.address(out), n],
    ]);
    return out;
  };

export const softmax = along('Softmax', 'softmax', 'dim');
export const logSoftmax = along('LogSoftmax', 'logSoftmax', 'axis');
