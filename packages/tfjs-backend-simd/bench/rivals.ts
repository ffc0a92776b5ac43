/** The rivals of standard-step.ts: stock tfjs-wasm in this process, PyTorch in a child process. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';

/** Stock wasm has no gradient of gather: it is lent the cpu backend's sum of segments. */
export async function useStockWasm(): Promise<void> {
  if (!tf.getKernel('UnsortedSegmentSum', 'wasm')) {
    const onCpu = tf.getKernel('UnsortedSegmentSum', 'cpu').kernelFunc;
    tf.registerKernel({
      kernelName: 'UnsortedSegmentSum',
      backendName: 'wasm',
      kernelFunc: ({ inputs, attrs, backend }) => {
        const [x, ids] = [inputs.x!, inputs.segmentIds!];
        const cpu = tf.findBackend('cpu') as tf.KernelBackend & { data: Map<object, { values: tf.TypedArray }> };
        const copies = Object.fromEntries(
          Object.entries({ x, segmentIds: ids }).map(([name, { dataId, shape, dtype }]) => {
            const values = (backend as tf.KernelBackend).readSync(dataId);
            return [name, { dataId: cpu.write(values, shape, dtype), shape, dtype }];
          }),
        );
        const sums = onCpu({ inputs: copies, attrs, backend: cpu }) as tf.TensorInfo;
        const values = cpu.readSync(sums.dataId);
        for (const { dataId } of [...Object.values(copies), sums]) cpu.disposeData(dataId, true);
        return { ...sums, dataId: (backend as tf.KernelBackend).write(values, sums.shape, sums.dtype) };
      },
    });
  }
  await tf.setBackend('wasm');
}

export interface Torch {
  readonly description: string;
  /** Milliseconds of each repetition. */
  time(what: object, threads: number, repeat: number): Promise<number[]>;
  stop(): void;
}

/** undefined when python3 or torch is not there. */
export async function startTorch(): Promise<Torch | undefined> {
  const child = spawn('python3', [fileURLToPath(new URL('./torch_rival.py', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (request: object) => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    return done ? undefined : (JSON.parse(value) as { ms: number[]; version: string; isa: string });
  };
  child.stdin.on('error', () => {});
  const first = await ask({ what: { matmul: 8 }, threads: 1, repeat: 1 });
  if (!first) return undefined;
  return {
    description: `PyTorch ${first.version}, ${first.isa}`,
    time: async (what, threads, repeat) => (await ask({ what, threads, repeat }))!.ms,
    stop: () => child.stdin.end(),
  };
}
