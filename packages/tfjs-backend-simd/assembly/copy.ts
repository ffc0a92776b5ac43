/** Rows of bytes from one place to another. */

/** Rows [begin, end) of `bytes` bytes each; strides in bytes. */
export function copyRows(
  begin: i32,
  end: i32,
  from: usize,
  to: usize,
  fromStride: i32,
  toStride: i32,
  bytes: i32,
): void {
  for (let row = begin; row < end; row++)
    copy(to + <usize>row * <usize>toStride, from + <usize>row * <usize>fromStride, bytes);
}

/** A loop for short rows: a call of the engine's own copy costs more than they do. */
@inline
function copy(to: usize, from: usize, bytes: i32): void {
  if (bytes > 512) {
    memory.copy(to, from, bytes);
    return;
  }
  let i = 0;
  for (; i + 16 <= bytes; i += 16) v128.store(to + i, v128.load(from + i));
  for (; i + 4 <= bytes; i += 4) store<i32>(to + i, load<i32>(from + i));
  for (; i < bytes; i++) store<u8>(to + i, load<u8>(from + i));
}

/** to[o, i] = from[o, indices[i]]: rows of `bytes` bytes, `length` of them for each o. Items are pairs (o, i). */
export function gatherRows(
  begin: i32,
  end: i32,
  from: usize,
  indices: usize,
  to: usize,
  numIndices: i32,
  length: i32,
  bytes: i32,
): void {
  for (let item = begin; item < end; item++) {
    const index = load<i32>(indices + ((<usize>(item % numIndices)) << 2));
    const row = <usize>((item / numIndices) * length + index);
    copy(to + <usize>item * <usize>bytes, from + row * <usize>bytes, bytes);
  }
}
