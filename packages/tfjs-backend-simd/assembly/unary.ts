/** y = f(x), element by element. Items are groups of four: tensors have room to the next multiple of 64 bytes. */
import { erf4, exp4, log1p4, log4, sigmoid4, tanh4 } from './math';
import { splat } from './simd';

/** The order of src/kernels/unary.ts. */
export function unary(begin: i32, end: i32, op: i32, x: usize, y: usize, alpha: f32): void {
  if (op == 0) each(0, begin, end, x, y, alpha);
  else if (op == 1) each(1, begin, end, x, y, alpha);
  else if (op == 2) each(2, begin, end, x, y, alpha);
  else if (op == 3) each(3, begin, end, x, y, alpha);
  else if (op == 4) each(4, begin, end, x, y, alpha);
  else if (op == 5) each(5, begin, end, x, y, alpha);
  else if (op == 6) each(6, begin, end, x, y, alpha);
  else if (op == 7) each(7, begin, end, x, y, alpha);
  else if (op == 8) each(8, begin, end, x, y, alpha);
  else if (op == 9) each(9, begin, end, x, y, alpha);
  else if (op == 10) each(10, begin, end, x, y, alpha);
  else if (op == 11) each(11, begin, end, x, y, alpha);
  else if (op == 12) each(12, begin, end, x, y, alpha);
  else if (op == 13) each(13, begin, end, x, y, alpha);
  else if (op == 14) each(14, begin, end, x, y, alpha);
  else if (op == 15) each(15, begin, end, x, y, alpha);
  else if (op == 16) each(16, begin, end, x, y, alpha);
}

@inline
function each(op: i32, begin: i32, end: i32, x: usize, y: usize, alpha: f32): void {
  let from = x + ((<usize>begin) << 4);
  let to = y + ((<usize>begin) << 4);
  const stop = x + ((<usize>end) << 4);
  while (from < stop) {
    v128.store(to, apply(op, v128.load(from), alpha));
    from += 16;
    to += 16;
  }
}

@inline
function apply(op: i32, x: v128, alpha: f32): v128 {
  if (op == 0) return f32x4.abs(x);
  if (op == 1) return f32x4.neg(x);
  if (op == 2) return f32x4.mul(x, x);
  if (op == 3) return f32x4.sqrt(x);
  if (op == 4) return f32x4.div(splat(1), f32x4.sqrt(x));
  if (op == 5) return f32x4.div(splat(1), x);
  if (op == 6) return exp4(x);
  if (op == 7) return log4(x);
  if (op == 8) return sigmoid4(x);
  if (op == 9) return tanh4(x);
  if (op == 10) return erf4(x);
  if (op == 11) return f32x4.max(splat(0), x);
  if (op == 12) return step4(x, alpha);
  if (op == 13) return log1p4(x);
  if (op == 14) return f32x4.floor(x);
  if (op == 15) return f32x4.ceil(x);
  return f32x4.nearest(x);
}

@inline
function step4(x: v128, alpha: f32): v128 {
  const stepped = v128.bitselect(splat(1), splat(alpha), f32x4.gt(x, splat(0)));
  return v128.bitselect(stepped, x, f32x4.eq(x, x));
}
