/** Softmax and its logarithm along rows [·, n]. */
import { exp1, expBelow4, log1 } from './math';
import { rowPeak } from './reduce';
import { at, laneSum, splat } from './simd';

export function softmax(begin: i32, end: i32, x: usize, y: usize, n: i32): void {
  for (let row = begin; row < end; row++) {
    const offset = (<usize>row * <usize>n) << 2;
    const scale: f32 = 1 / expInto(x + offset, y + offset, n, rowPeak(x + offset, n));
    const to = y + offset;
    let i = 0;
    for (; i + 4 <= n; i += 4) v128.store(at(to, i), f32x4.mul(v128.load(at(to, i)), splat(scale)));
    for (; i < n; i++) store<f32>(at(to, i), load<f32>(at(to, i)) * scale);
  }
}

export function logSoftmax(begin: i32, end: i32, x: usize, y: usize, n: i32): void {
  for (let row = begin; row < end; row++) {
    const from = x + ((<usize>row * <usize>n) << 2);
    const to = y + ((<usize>row * <usize>n) << 2);
    const highest = rowPeak(from, n);
    const logSum = log1(expSum(from, n, highest));
    let i = 0;
    for (; i + 4 <= n; i += 4)
      v128.store(at(to, i), f32x4.sub(f32x4.sub(v128.load(at(from, i)), splat(highest)), splat(logSum)));
    for (; i < n; i++) store<f32>(at(to, i), load<f32>(at(from, i)) - highest - logSum);
  }
}

/** y = e^(x − shift); returns their sum. */
export function expInto(x: usize, y: usize, n: i32, shift: f32): f32 {
  let s0 = splat(0);
  let s1 = splat(0);
  let i = 0;
  for (; i + 8 <= n; i += 8) {
    const y0 = expBelow4(f32x4.sub(v128.load(at(x, i)), splat(shift)));
    const y1 = expBelow4(f32x4.sub(v128.load(at(x, i), 16), splat(shift)));
    v128.store(at(y, i), y0);
    v128.store(at(y, i), y1, 16);
    s0 = f32x4.add(s0, y0);
    s1 = f32x4.add(s1, y1);
  }
  let total = laneSum(f32x4.add(s0, s1));
  for (; i < n; i++) {
    const value = exp1(load<f32>(at(x, i)) - shift);
    store<f32>(at(y, i), value);
    total += value;
  }
  return total;
}

/** Σ e^(x − shift) */
export function expSum(x: usize, n: i32, shift: f32): f32 {
  let sum = splat(0);
  let i = 0;
  for (; i + 4 <= n; i += 4) sum = f32x4.add(sum, expBelow4(f32x4.sub(v128.load(at(x, i)), splat(shift))));
  let total = laneSum(sum);
  for (; i < n; i++) total += exp1(load<f32>(at(x, i)) - shift);
  return total;
}
