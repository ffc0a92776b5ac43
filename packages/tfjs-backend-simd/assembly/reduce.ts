/** Sums and maxima along an axis. Sums are of partial sums, so that rounding grows slowly with their length. */
import { at, laneMax, laneSum, splat } from './simd';

const BLOCK: i32 = 256;

/** Rows [begin, end) of [·, n] → one number each: the maximum, or the sum times `scale`. */
export function reduceRows(begin: i32, end: i32, maximum: i32, x: usize, y: usize, n: i32, scale: f32): void {
  for (let row = begin; row < end; row++) {
    const from = x + ((<usize>row * <usize>n) << 2);
    store<f32>(at(y, row), maximum ? rowMax(from, n) : rowSum(from, n) * scale);
  }
}

/** NaN if any is. The instruction that keeps NaN takes eight of the processor's: here they are looked for beside. */
function rowMax(x: usize, n: i32): f32 {
  let m0 = splat(-Infinity);
  let m1 = m0;
  let nan = splat(0);
  let i = 0;
  for (; i + 8 <= n; i += 8) {
    const x0 = v128.load(at(x, i));
    const x1 = v128.load(at(x, i), 16);
    m0 = v128.pmax<f32>(m0, x0);
    m1 = v128.pmax<f32>(m1, x1);
    nan = v128.or(nan, v128.or(f32x4.ne(x0, x0), f32x4.ne(x1, x1)));
  }
  if (v128.any_true(nan)) return NaN;
  let value = laneMax(v128.pmax<f32>(m0, m1));
  for (; i < n; i++) value = max(value, load<f32>(at(x, i)));
  return value;
}

/** The same but for NaN, which is passed over (−∞ for a row of nothing else): for callers where it comes back by itself. */
export function rowPeak(x: usize, n: i32): f32 {
  let m0 = splat(-Infinity);
  let m1 = m0;
  let i = 0;
  for (; i + 8 <= n; i += 8) {
    m0 = v128.pmax<f32>(m0, v128.load(at(x, i)));
    m1 = v128.pmax<f32>(m1, v128.load(at(x, i), 16));
  }
  let value = laneMax(v128.pmax<f32>(m0, m1));
  for (; i < n; i++) {
    const next = load<f32>(at(x, i));
    if (next > value) value = next;
  }
  return value;
}

function rowSum(x: usize, n: i32): f32 {
  let total: f32 = 0;
  for (let start = 0; start < n; start += BLOCK) {
    const stop = min(n, start + BLOCK);
    let s0 = splat(0);
    let s1 = splat(0);
    let i = start;
    for (; i + 8 <= stop; i += 8) {
      s0 = f32x4.add(s0, v128.load(at(x, i)));
      s1 = f32x4.add(s1, v128.load(at(x, i), 16));
    }
    let part = laneSum(f32x4.add(s0, s1));
    for (; i < stop; i++) part += load<f32>(at(x, i));
    total += part;
  }
  return total;
}

/** Columns of one item. */
const STRIP: i32 = 32;

export function reduceStrip(): i32 {
  return STRIP;
}

/** [outer, r, n] → [outer, n]. Items are strips of 32 columns, `strips` for each outer index. */
export function reduceColumns(
  begin: i32,
  end: i32,
  maximum: i32,
  x: usize,
  y: usize,
  r: i32,
  n: i32,
  strips: i32,
  scale: f32,
): void {
  for (let item = begin; item < end; item++) {
    const outer = item / strips;
    const column = (item % strips) * STRIP;
    const from = x + ((<usize>outer * <usize>r * <usize>n + <usize>column) << 2);
    const to = at(y, outer * n + column);
    const count = min(STRIP, n - column);
    let j = 0;
    for (; j + 16 <= count; j += 16) {
      if (maximum) maxColumns16(at(from, j), at(to, j), r, n);
      else sumColumns16(at(from, j), at(to, j), r, n, scale);
    }
    for (; j < count; j++) oneColumn(maximum, at(from, j), at(to, j), r, n, scale);
  }
}

function sumColumns16(x: usize, y: usize, r: i32, n: i32, scale: f32): void {
  let t0 = splat(0), t1 = splat(0), t2 = splat(0), t3 = splat(0);
  for (let start = 0; start < r; start += BLOCK) {
    let s0 = splat(0), s1 = splat(0), s2 = splat(0), s3 = splat(0);
    const stop = min(r, start + BLOCK);
    for (let i = start; i < stop; i++) {
      s0 = f32x4.add(s0, v128.load(x));
      s1 = f32x4.add(s1, v128.load(x, 16));
      s2 = f32x4.add(s2, v128.load(x, 32));
      s3 = f32x4.add(s3, v128.load(x, 48));
      x += (<usize>n) << 2;
    }
    t0 = f32x4.add(t0, s0);
    t1 = f32x4.add(t1, s1);
    t2 = f32x4.add(t2, s2);
    t3 = f32x4.add(t3, s3);
  }
  const factor = splat(scale);
  v128.store(y, f32x4.mul(t0, factor));
  v128.store(y, f32x4.mul(t1, factor), 16);
  v128.store(y, f32x4.mul(t2, factor), 32);
  v128.store(y, f32x4.mul(t3, factor), 48);
}

function maxColumns16(x: usize, y: usize, r: i32, n: i32): void {
  let m0 = splat(-Infinity), m1 = m0, m2 = m0, m3 = m0;
  for (let i = 0; i < r; i++) {
    m0 = f32x4.max(m0, v128.load(x));
    m1 = f32x4.max(m1, v128.load(x, 16));
    m2 = f32x4.max(m2, v128.load(x, 32));
    m3 = f32x4.max(m3, v128.load(x, 48));
    x += (<usize>n) << 2;
  }
  v128.store(y, m0);
  v128.store(y, m1, 16);
  v128.store(y, m2, 32);
  v128.store(y, m3, 48);
}

function oneColumn(maximum: i32, x: usize, y: usize, r: i32, n: i32, scale: f32): void {
  let total: f32 = maximum ? -Infinity : 0;
  for (let start = 0; start < r; start += BLOCK) {
    const stop = min(r, start + BLOCK);
    let part: f32 = maximum ? total : 0;
    for (let i = start; i < stop; i++) {
      const value = load<f32>(x);
      part = maximum ? max(part, value) : part + value;
      x += (<usize>n) << 2;
    }
    total = maximum ? part : total + part;
  }
  store<f32>(y, maximum ? total : total * scale);
}
