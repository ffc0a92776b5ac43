/** Running sums along rows [·, n]. */
import { at } from './simd';

/** Rows [begin, end). `exclusive`: without the element itself; `reverse`: from the end. */
export function cumulativeSum(
  begin: i32,
  end: i32,
  x: usize,
  y: usize,
  n: i32,
  exclusive: i32,
  reverse: i32,
): void {
  for (let row = begin; row < end; row++) {
    const offset = (<usize>row * <usize>n) << 2;
    let sum: f32 = 0;
    for (let k = 0; k < n; k++) {
      const i = offset + at(0, reverse ? n - 1 - k : k);
      const value = load<f32>(x + i);
      if (exclusive) store<f32>(y + i, sum);
      sum += value;
      if (!exclusive) store<f32>(y + i, sum);
    }
  }
}
