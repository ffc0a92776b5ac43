/** A thread of the pool: the same module on the same memory. It spins for a moment after each task, then sleeps. */
import { JOINED, type KernelFunction, takeParts, viewTask, WORD } from './task.ts';

export interface WorkerStart {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly kernelNames: readonly string[];
  readonly thread: number;
  readonly wide: boolean;
}

/** About 50 µs: a training step has its kernels closer together than that. */
const spins = 20_000;

function serve({ module, memory, kernelNames, thread, wide }: WorkerStart): never {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  (exports.setThread as (index: number) => void)(thread);
  (exports.setWide as (wide: number) => void)(Number(wide));
  const kernels = kernelNames.map((name) => exports[name] as KernelFunction);
  const task = viewTask(memory);
  Atomics.add(task.control, JOINED, 1);
  for (;;) {
    const word = Atomics.load(task.control, WORD);
    takeParts(task, kernels);
    const seen = Atomics.load(task.control, WORD);
    if (seen !== word) continue;
    for (let i = 0; i < spins && Atomics.load(task.control, WORD) === seen; i++);
    Atomics.wait(task.control, WORD, seen);
  }
}

if (typeof process === 'object' && process.versions?.node) {
  serve(process.getBuiltinModule('node:worker_threads').workerData as WorkerStart);
} else {
  globalThis.onmessage = (event: MessageEvent) => serve(event.data as WorkerStart);
}
