/**
 * The products of attention where a block has a query or a few (decoding): straight from the rows of keys and values.
 * Packing them, as attention.ts wants them, would cost more than it saves.
 */
import { BLOCK, Problem, seenKeys } from './attention-problem';
import { at, laneSum, madd, splat } from './simd';

/** Queries as they stand, scaled: [rows, Dr]. */
export function scaleQueries(p: Problem, to: usize, q: usize, rows: i32): void {
  for (let i = 0; i < rows * p.Dr; i++) store<f32>(at(to, i), load<f32>(at(q, i)) * p.scale);
}

/** to[i, j] = ⟨queries_i, keys_j⟩ */
export function scoreRows(p: Problem, to: usize, queries: usize, keys: usize, rows: i32, cols: i32): void {
  for (let i = 0; i < rows; i++) {
    const query = at(queries, i * p.Dr);
    for (let j = 0; j < cols; j++) store<f32>(at(to, i * BLOCK + j), dot(query, at(keys, j * p.Dr), p.Dr));
  }
}

/** to[i] += Σ_j weights[i, j]·values_j, rows of `to` being `width` wide. */
export function weighRows(
  p: Problem,
  to: usize,
  width: i32,
  weights: usize,
  values: usize,
  i0: i32,
  rows: i32,
  j0: i32,
  cols: i32,
): void {
  for (let i = 0; i < rows; i++) {
    const seen = seenKeys(p, i0 + i, j0, cols);
    const sums = at(to, i * width);
    const row = at(weights, i * BLOCK);
    let d = 0;
    for (; d + 8 <= p.Dv; d += 8) {
      let s0 = v128.load(at(sums, d));
      let s1 = v128.load(at(sums, d), 16);
      for (let j = 0; j < seen; j++) {
        const weight = v128.load32_splat(at(row, j));
        const value = at(values, j * p.Dv + d);
        s0 = madd(weight, v128.load(value), s0);
        s1 = madd(weight, v128.load(value, 16), s1);
      }
      v128.store(at(sums, d), s0);
      v128.store(at(sums, d), s1, 16);
    }
    for (; d < p.Dv; d++) {
      let sum = load<f32>(at(sums, d));
      for (let j = 0; j < seen; j++) sum += load<f32>(at(row, j)) * load<f32>(at(values, j * p.Dv + d));
      store<f32>(at(sums, d), sum);
    }
  }
}

/** ⟨a, b⟩ of n numbers. */
export function dot(a: usize, b: usize, n: i32): f32 {
  let s0 = splat(0);
  let s1 = splat(0);
  let i = 0;
  for (; i + 8 <= n; i += 8) {
    s0 = madd(v128.load(at(a, i)), v128.load(at(b, i)), s0);
    s1 = madd(v128.load(at(a, i), 16), v128.load(at(b, i), 16), s1);
  }
  let total = laneSum(f32x4.add(s0, s1));
  for (; i < n; i++) total += load<f32>(at(a, i)) * load<f32>(at(b, i));
  return total;
}
