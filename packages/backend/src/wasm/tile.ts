/**
 * Tile (and so broadcastTo) by copying runs; the stock kernel computes a list of coordinates for each element (30 ns).
 * Works from the last axis outwards: once a block of axes a… is written, its repetitions are copies of that block.
 */
import { elements, type Kernel } from './memory.ts';

export const tile: Kernel = ({ inputs, backend, attrs }) => {
  const x = inputs.x!;
  const reps = attrs.reps as number[];
  const rank = x.shape.length;
  const out = backend.makeOutput(
    x.shape.map((size, axis) => size * reps[axis]!),
    x.dtype,
  );
  const from = elements(backend, x);
  const to = elements(backend, out);
  let read = 0;

  /** Writes axes axis… of one block at `start`; returns its end. */
  function write(axis: number, start: number): number {
    if (axis === rank) {
      to[start] = from[read++]!;
      return start + 1;
    }
    let end = start;
    if (axis === rank - 1) {
      for (const stop = read + x.shape[axis]!; read < stop; ) to[end++] = from[read++]!;
    } else for (let i = 0; i < x.shape[axis]!; i++) end = write(axis + 1, end);
    const block = end - start;
    if (block === 1) to.fill(to[start]!, start, start + reps[axis]!);
    else for (let r = 1; r < reps[axis]!; r++) to.copyWithin(start + r * block, start, end);
    return start + reps[axis]! * block;
  }
  if (to.length) write(0, 0);
  return out;
};
