/** Rows added up by number: the gradient of gather. Each item is a strip of columns, so that rows add up in order. */
import { at } from './simd';

const STRIP: i32 = 16;

export function segmentSumStrip(): i32 {
  return STRIP;
}

/** y[ids[i]] += x[i], x [rows, n], y [segments, n]; ids outside are skipped. Items are strips of 16 columns. */
export function segmentSum(
  begin: i32,
  end: i32,
  x: usize,
  ids: usize,
  y: usize,
  rows: i32,
  n: i32,
  segments: i32,
): void {
  const first = begin * STRIP;
  const count = min(n, end * STRIP) - first;
  for (let s = 0; s < segments; s++) memory.fill(at(y, s * n + first), 0, (<usize>count) << 2);
  for (let i = 0; i < rows; i++) {
    const id = load<i32>(at(ids, i));
    if (<u32>id >= <u32>segments) continue;
    const from = at(x, i * n + first);
    const to = at(y, id * n + first);
    let j = 0;
    for (; j + 4 <= count; j += 4) v128.store(at(to, j), f32x4.add(v128.load(at(to, j)), v128.load(at(from, j))));
    for (; j < count; j++) store<f32>(at(to, j), load<f32>(at(to, j)) + load<f32>(at(from, j)));
  }
}
