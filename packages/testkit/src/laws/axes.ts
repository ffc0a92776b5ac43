/** Which axes of an encoding's parameters belong to heads, key/value heads or layers: found by creating it with one more. */
import type { Dims, Encoding } from '@posenc/core';
import type { Subject } from '../law.ts';

/** An axis made of `count` blocks of `block` entries each: one block per head (or per layer). */
export interface BlockAxis {
  readonly param: string;
  readonly shape: readonly number[];
  readonly axis: number;
  readonly count: number;
  readonly block: number;
}

/**
 * Axes that grow with a dimension of the stack. A subject whose config fits one number only (slopes listed per head) can't be
 * created with another: then axes of exactly that size are taken.
 */
export function axesOf(subject: Subject, dims: Dims, dimension: 'numHeads' | 'numLayers'): BlockAxis[] {
  const count = dims[dimension];
  const grown = {
    ...dims,
    [dimension]: count + 1,
    ...(dimension === 'numHeads' && { numKvHeads: dims.numKvHeads + 1 }),
  };
  const [small, large] = [subject.create(dims), created(subject, grown)];
  return Object.entries(small.params).flatMap(([param, { shape }]) =>
    shape.flatMap((size, axis) => {
      const other = large ? (large.params[param]?.shape[axis] ?? size) : size === count ? count + 1 : size;
      const block = size / count;
      return other !== size && Number.isInteger(block) && other === block * (count + 1)
        ? [{ param, shape, axis, count, block }]
        : [];
    }),
  );
}

function created(subject: Subject, dims: Dims): Encoding | undefined {
  try {
    return subject.create(dims);
  } catch (error) {
    if ((error as Error).name === 'PosencError') return undefined;
    throw error;
  }
}

/** New block i along the axis is old block `from[i]` (there may be more or fewer than before). */
export function takeBlocks(
  values: Float32Array,
  { shape, axis, block }: Pick<BlockAxis, 'shape' | 'axis' | 'block'>,
  from: readonly number[],
): Float32Array {
  const size = shape[axis]!;
  const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1) * block;
  const outer = values.length / (size / block) / inner;
  const result = new Float32Array(outer * from.length * inner);
  for (let o = 0; o < outer; o++)
    from.forEach((old, i) => {
      const start = (o * (size / block) + old) * inner;
      result.set(values.subarray(start, start + inner), (o * from.length + i) * inner);
    });
  return result;
}
