/** Runs kernels on this thread and on workers that share its memory. What is computed does not depend on their number. */
import {
  closed,
  DONE,
  FAILED,
  JOINED,
  KERNEL,
  type KernelFunction,
  maxArguments,
  NUM_ARGS,
  PARTS,
  partBits,
  TOTAL,
  takeParts,
  viewTask,
  WORD,
} from './task.ts';
import type { WorkerStart } from './worker.ts';

export interface Pool {
  /** Threads that may take part, this one included. */
  readonly threads: number;
  /** The tile for registers of 256 bits is in use. */
  readonly wide: boolean;
  /** Those that are up already, this one included. */
  readonly joined: number;
  /**
   * Runs kernel(begin, end, ...args) over [0, total). Worth less than `grain` items, a part is not given away.
   * Every item's result depends on the item alone, never on where a part begins.
   */
  run(kernel: string, total: number, grain: number, args: readonly number[]): void;
  /** Calls an export that is no kernel. */
  call(name: string, ...args: number[]): number;
  stop(): void;
}

interface Thread {
  terminate(): unknown;
}

/** About 50 µs of looking at the counter before this thread sleeps until the last part is done. */
const spins = 20_000;

/** `wide`: the tile for registers of 256 bits is the faster one here. */
export function createPool(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  threads: number,
  wide: boolean,
): Pool {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  (exports.setWide as (wide: number) => void)(Number(wide));
  const kernelNames = Object.keys(exports).filter((name) => typeof exports[name] === 'function');
  const kernels = kernelNames.map((name) => exports[name] as KernelFunction);
  const indexOf = new Map(kernelNames.map((name, i) => [name, i]));
  const task = viewTask(memory);
  const { control, args: shared } = task;
  // They join when they are up: nothing waits for them.
  const workers: Thread[] = [];
  for (let thread = 1; thread < threads; thread++)
    workers.push(startWorker({ module, memory, kernelNames, thread, wide }));
  let number = 0;

  function run(name: string, total: number, grain: number, args: readonly number[]): void {
    const index = indexOf.get(name)!;
    const parts = Math.min(closed - 1, Math.floor(total / grain), workers.length === 0 ? 1 : 4 * threads);
    if (parts <= 1) {
      kernels[index]!(0, total, ...args);
      return;
    }
    if (args.length > maxArguments) throw new RangeError(`${name}: ${args.length} arguments`);
    // All parts of the task before are done; closed, none of a half-written one can be taken.
    number = (number + 1) % 2 ** (31 - partBits);
    Atomics.store(control, WORD, (number << partBits) | closed);
    control[KERNEL] = index;
    control[TOTAL] = total;
    control[NUM_ARGS] = args.length;
    shared.set(args);
    Atomics.store(control, DONE, 0);
    Atomics.store(control, PARTS, parts);
    Atomics.store(control, WORD, number << partBits);
    Atomics.notify(control, WORD);
    takeParts(task, kernels);
    for (let i = 0; i < spins && Atomics.load(control, DONE) < parts; i++);
    for (let done = Atomics.load(control, DONE); done < parts; done = Atomics.load(control, DONE)) sleep(done);
    if (Atomics.exchange(control, FAILED, 0)) throw new Error(`The kernel ${name} of the simd backend failed`);
  }

  let maySleep = true;
  function sleep(done: number): void {
    if (!maySleep) return;
    try {
      Atomics.wait(control, DONE, done, 1);
    } catch {
      maySleep = false; // The main thread of a browser: it can only look again.
    }
  }

  return {
    threads,
    wide,
    get joined() {
      return 1 + Atomics.load(control, JOINED);
    },
    run,
    call: (name, ...args) => (exports[name] as (...args: number[]) => number)(...args),
    stop: () => {
      for (const worker of workers) worker.terminate();
    },
  };
}

/** Node's own modules come from the process: bundlers for browsers would look for imported ones. */
function startWorker(start: WorkerStart): Thread {
  // .ts from the sources, .js from the published package.
  if (typeof process === 'object' && process.versions?.node) {
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const worker = new Worker(new URL(file, import.meta.url), { workerData: start });
    worker.unref();
    return worker;
  }
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  worker.postMessage(start);
  return worker;
}
