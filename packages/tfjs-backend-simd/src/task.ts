/**
 * One piece of work, in shared memory, and how threads take parts of it. The task word holds the number of the task and
 * the number of parts taken: a part is taken by raising it from the value under which the task was read, which fails if
 * the task has meanwhile become another one. No part can be taken twice, and no task is overwritten while one runs.
 */

/** Where things stand in the control words (Int32) and the arguments (Float64). */
export const [WORD, PARTS, DONE, KERNEL, TOTAL, NUM_ARGS, FAILED, JOINED] = [0, 16, 32, 48, 49, 50, 51, 52];
const controlAddress = 1024;
const controlWords = 64;
const argumentAddress = 2048;
export const maxArguments = 64;
/** From here on memory belongs to the allocator. */
export const firstFreeAddress = 4096;

export const partBits = 10;
/** More parts than any task has: nothing to take. */
export const closed = 2 ** partBits - 1;

/** Items [begin, end) of a kernel: what every kernel takes first. */
export type KernelFunction = (begin: number, end: number, ...args: number[]) => void;

export interface TaskView {
  readonly control: Int32Array;
  readonly args: Float64Array;
}

export function viewTask(memory: WebAssembly.Memory): TaskView {
  return {
    control: new Int32Array(memory.buffer, controlAddress, controlWords),
    args: new Float64Array(memory.buffer, argumentAddress, maxArguments),
  };
}

/** Takes parts of the current task until none is left. Every part gives the same bits whoever does it. */
export function takeParts({ control, args }: TaskView, kernels: readonly KernelFunction[]): void {
  for (;;) {
    const word = Atomics.load(control, WORD);
    const part = word & closed;
    const parts = Atomics.load(control, PARTS);
    if (part >= parts) return;
    const kernel = kernels[control[KERNEL]!]!;
    const total = control[TOTAL]!;
    const values = args.slice(0, control[NUM_ARGS]!);
    if (Atomics.compareExchange(control, WORD, word, word + 1) !== word) continue;
    try {
      kernel(Math.floor((total * part) / parts), Math.floor((total * (part + 1)) / parts), ...values);
    } catch {
      Atomics.store(control, FAILED, 1);
    }
    if (Atomics.add(control, DONE, 1) + 1 === parts) Atomics.notify(control, DONE);
  }
}
