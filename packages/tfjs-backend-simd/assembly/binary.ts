/** out = f(a, b) with broadcasting. Comparisons give bytes 0 and 1. */
import { at, loadPart, storePart } from './simd';

/** Operations before this one give numbers (7 to 9 of integers), the others are comparisons. The order is that of src/kernels/binary.ts. */
const FIRST_COMPARISON: i32 = 10;

/**
 * All elements in one line; stride 0: an operand is one number. Items are groups of four: tensors have room to the next
 * multiple of 64 bytes.
 */
export function binaryFlat(
  begin: i32,
  end: i32,
  op: i32,
  a: usize,
  b: usize,
  out: usize,
  strideA: i32,
  strideB: i32,
): void {
  const width = op >= FIRST_COMPARISON ? 1 : 4;
  line(
    op,
    at(a, 4 * begin * strideA),
    strideA,
    at(b, 4 * begin * strideB),
    strideB,
    out + <usize>(4 * begin * width),
    4 * (end - begin),
  );
}

/**
 * Rows [begin, end) of a result [·, d1, d2, n]. a0, a1, a2, an: floats from one index to the next in a, 0 where it is
 * stretched (an, bn: 0 or 1); likewise b.
 */
export function binaryRows(
  begin: i32,
  end: i32,
  op: i32,
  a: usize,
  b: usize,
  out: usize,
  d1: i32,
  d2: i32,
  n: i32,
  a0: i32,
  a1: i32,
  a2: i32,
  an: i32,
  b0: i32,
  b1: i32,
  b2: i32,
  bn: i32,
): void {
  const width = op >= FIRST_COMPARISON ? 1 : 4;
  for (let row = begin; row < end; row++) {
    const k = row % d2;
    const j = (row / d2) % d1;
    const i = row / (d1 * d2);
    line(
      op,
      at(a, i * a0 + j * a1 + k * a2),
      an,
      at(b, i * b0 + j * b1 + k * b2),
      bn,
      out + <usize>row * <usize>(n * width),
      n,
    );
  }
}

function line(op: i32, a: usize, an: i32, b: usize, bn: i32, out: usize, n: i32): void {
  if (op == 0) each(0, a, an, b, bn, out, n);
  else if (op == 1) each(1, a, an, b, bn, out, n);
  else if (op == 2) each(2, a, an, b, bn, out, n);
  else if (op == 3) each(3, a, an, b, bn, out, n);
  else if (op == 4) each(4, a, an, b, bn, out, n);
  else if (op == 5) each(5, a, an, b, bn, out, n);
  else if (op == 6) each(6, a, an, b, bn, out, n);
  else if (op == 7) each(7, a, an, b, bn, out, n);
  else if (op == 8) each(8, a, an, b, bn, out, n);
  else if (op == 9) each(9, a, an, b, bn, out, n);
  else compare(op, a, an, b, bn, out, n);
}

@inline
function each(op: i32, a: usize, an: i32, b: usize, bn: i32, out: usize, n: i32): void {
  let i = 0;
  if (an && bn) {
    for (; i + 4 <= n; i += 4) v128.store(at(out, i), apply(op, v128.load(at(a, i)), v128.load(at(b, i))));
  } else if (an) {
    const y = v128.load32_splat(b);
    for (; i + 4 <= n; i += 4) v128.store(at(out, i), apply(op, v128.load(at(a, i)), y));
  } else if (bn) {
    const x = v128.load32_splat(a);
    for (; i + 4 <= n; i += 4) v128.store(at(out, i), apply(op, x, v128.load(at(b, i))));
  } else {
    const value = apply(op, v128.load32_splat(a), v128.load32_splat(b));
    for (; i + 4 <= n; i += 4) v128.store(at(out, i), value);
  }
  if (i < n) {
    const x = an ? loadPart(at(a, i), n - i) : v128.load32_splat(a);
    const y = bn ? loadPart(at(b, i), n - i) : v128.load32_splat(b);
    storePart(at(out, i), apply(op, x, y), n - i);
  }
}

@inline
function apply(op: i32, x: v128, y: v128): v128 {
  if (op == 0) return f32x4.add(x, y);
  if (op == 1) return f32x4.sub(x, y);
  if (op == 2) return f32x4.mul(x, y);
  if (op == 3) return f32x4.div(x, y);
  if (op == 4) return f32x4.max(x, y);
  if (op == 5) return f32x4.min(x, y);
  if (op == 7) return i32x4.add(x, y);
  if (op == 8) return i32x4.sub(x, y);
  if (op == 9) return i32x4.mul(x, y);
  const difference = f32x4.sub(x, y);
  return f32x4.mul(difference, difference);
}

function compare(op: i32, a: usize, an: i32, b: usize, bn: i32, out: usize, n: i32): void {
  for (let i = 0; i < n; i += 4) {
    const count = min(4, n - i);
    const x = !an ? v128.load32_splat(a) : count == 4 ? v128.load(at(a, i)) : loadPart(at(a, i), count);
    const y = !bn ? v128.load32_splat(b) : count == 4 ? v128.load(at(b, i)) : loadPart(at(b, i), count);
    const mask = v128.and(holds(op, x, y), i32x4.splat(1));
    const shorts = i16x8.narrow_i32x4_u(mask, mask);
    const bytes = i32x4.extract_lane(i8x16.narrow_i16x8_u(shorts, shorts), 0);
    if (count == 4) store<i32>(out + i, bytes);
    else for (let j = 0; j < count; j++) store<u8>(out + i + j, <u8>(bytes >> (8 * j)));
  }
}

@inline
function holds(op: i32, x: v128, y: v128): v128 {
  if (op == 10) return f32x4.gt(x, y);
  if (op == 11) return f32x4.ge(x, y);
  if (op == 12) return f32x4.lt(x, y);
  if (op == 13) return f32x4.le(x, y);
  if (op == 14) return f32x4.eq(x, y);
  return f32x4.ne(x, y);
}

/** Groups of four: out = condition ? a : b. */
export function select(begin: i32, end: i32, condition: usize, a: usize, b: usize, out: usize): void {
  for (let i = begin; i < end; i++) {
    const bytes = v128.load32_zero(condition + ((<usize>i) << 2));
    const mask = i32x4.ne(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes)), i32x4.splat(0));
    const place = (<usize>i) << 4;
    v128.store(out + place, v128.bitselect(v128.load(a + place), v128.load(b + place), mask));
  }
}
