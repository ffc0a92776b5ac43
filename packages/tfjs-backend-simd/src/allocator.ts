/**
 * Hands out ranges of a WebAssembly memory, and takes them back. Free neighbours are merged at once; a request takes the
 * first block of the smallest size class that surely fits (two-level segregated fit, Masmano 2004), so that both
 * directions cost the same however many tensors there are. The memory grows when nothing fits and never shrinks.
 */

interface Block {
  readonly address: number;
  size: number;
  free: boolean;
  /** Neighbours in memory. */
  before?: Block;
  after?: Block;
  /** Neighbours in the list of its size class, when free. */
  previous?: Block;
  next?: Block;
}

const alignment = 64;
const page = 65536;
/** One page below 4 GiB, so that an address just behind a tensor still fits 32 bits. */
const maxPages = 65535;
const growth = 256;

export interface Allocator {
  /** An address that is a multiple of 64. Throws when the memory is at its limit. */
  allocate(bytes: number): number;
  release(address: number): void;
  /** Bytes handed out now, and bytes of the memory. */
  readonly bytesInUse: number;
  readonly bytesReserved: number;
  /** The most that was in use since `resetPeak`. */
  readonly bytesAtPeak: number;
  resetPeak(): void;
}

/** @param start where the managed range begins: a multiple of 64 */
export function createAllocator(memory: WebAssembly.Memory, start: number): Allocator {
  const classes: (Block | undefined)[] = [];
  const used = new Map<number, Block>();
  let end = memory.buffer.byteLength;
  let inUse = 0;
  let peak = 0;
  let last: Block = { address: start, size: end - start, free: true };
  insert(last);

  function insert(block: Block): void {
    const index = sizeClass(block.size);
    const head = classes[index];
    block.free = true;
    block.previous = undefined;
    block.next = head;
    if (head) head.previous = block;
    classes[index] = block;
  }

  function remove(block: Block): void {
    if (block.previous) block.previous.next = block.next;
    else classes[sizeClass(block.size)] = block.next;
    if (block.next) block.next.previous = block.previous;
    block.free = false;
  }

  /** `block` swallows its right neighbour; neither is in a list. */
  function merge(block: Block, right: Block): void {
    block.size += right.size;
    block.after = right.after;
    if (right.after) right.after.before = block;
    else last = block;
  }

  function find(size: number): Block | undefined {
    // Blocks of the own class may be too small: one class up, every block is large enough.
    for (let index = sizeClass(size) + 1; index < classes.length; index++) if (classes[index]) return classes[index];
    for (let block = classes[sizeClass(size)]; block; block = block.next) if (block.size >= size) return block;
    return undefined;
  }

  function grow(size: number): Block {
    const missing = Math.ceil((last.free ? size - last.size : size) / page);
    const room = maxPages - end / page;
    const generous = Math.min(room, Math.max(missing, growth, Math.floor(end / page / 8)));
    if (missing > room || !(tryGrow(memory, generous) || tryGrow(memory, missing)))
      throw new Error(
        `The simd backend is out of memory: ${megabytes(size)} were asked for, ${megabytes(inUse)} are in use by ` +
          `${used.size} tensors, and its memory ends at ${megabytes(maxPages * page)}. Use a smaller batch or length, ` +
          `or dispose tensors (tf.tidy).`,
      );
    const added: Block = { address: end, size: memory.buffer.byteLength - end, free: false, before: last };
    end = memory.buffer.byteLength;
    last.after = added;
    const joined = last;
    last = added;
    if (!joined.free) return added;
    remove(joined);
    merge(joined, added);
    return joined;
  }

  function allocate(bytes: number): number {
    const size = Math.max(1, Math.ceil(bytes / alignment)) * alignment;
    const found = find(size);
    const block = found ?? grow(size);
    if (found) remove(found);
    if (block.size > size) {
      const rest: Block = { address: block.address + size, size: block.size - size, free: true, before: block };
      rest.after = block.after;
      if (rest.after) rest.after.before = rest;
      else last = rest;
      block.after = rest;
      block.size = size;
      insert(rest);
    }
    block.free = false;
    used.set(block.address, block);
    inUse += size;
    peak = Math.max(peak, inUse);
    return block.address;
  }

  function release(address: number): void {
    let block = used.get(address)!;
    used.delete(address);
    inUse -= block.size;
    if (block.after?.free) {
      remove(block.after);
      merge(block, block.after);
    }
    if (block.before?.free) {
      const left = block.before;
      remove(left);
      merge(left, block);
      block = left;
    }
    insert(block);
  }

  return {
    allocate,
    release,
    get bytesInUse() {
      return inUse;
    },
    get bytesReserved() {
      return end;
    },
    get bytesAtPeak() {
      return peak;
    },
    resetPeak() {
      peak = inUse;
    },
  };
}

/** Eight classes per power of two. */
function sizeClass(size: number): number {
  const units = size / alignment;
  const power = Math.floor(Math.log2(units));
  return power * 8 + Math.floor((units / 2 ** power - 1) * 8);
}

function tryGrow(memory: WebAssembly.Memory, pages: number): boolean {
  try {
    memory.grow(pages);
    return true;
  } catch {
    return false;
  }
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
