/**
 * What a matrix product reads, in the order in which it reads it: panels of 6 rows of A and of 8 columns of B, the inner
 * index running slowest, zeros beyond the border. Transposing is a matter of strides here.
 */
import { at } from './simd';

/** Rows of a panel of A, columns of a panel of B. */
export const MR: i32 = 6;
export const NR: i32 = 8;

/**
 * Panels [begin, end) of a batch of B, `panels` each: columns 8p … 8p+7 as [K][8], zeros beyond column N.
 * Element (k, n) of B is at b + 4·(k·strideK + n·strideN); one of the strides is 1.
 */
export function packB(
  begin: i32,
  end: i32,
  packed: usize,
  b: usize,
  K: i32,
  N: i32,
  strideK: i32,
  strideN: i32,
  size: i32,
  panels: i32,
): void {
  for (let i = begin; i < end; i++) {
    const to = packed + <usize>i * <usize>K * (NR * 4);
    const n = (i % panels) * NR;
    const from = at(b, (i / panels) * size + n * strideN);
    if (n + NR <= N) {
      if (strideN == 1) copyRows8(to, from, K, strideK);
      else transpose8(to, from, K, strideN);
    } else {
      packEdge(to, from, K, N - n, NR, strideK, strideN);
    }
  }
}

/** [K][8] from K rows of 8 neighbours. */
function copyRows8(to: usize, from: usize, K: i32, stride: i32): void {
  const step = (<usize>stride) << 2;
  for (let k = 0; k < K; k++) {
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
    to += 32;
    from += step;
  }
}

/** [K][8] from 8 rows of K neighbours. */
function transpose8(to: usize, from: usize, K: i32, stride: i32): void {
  const half = (<usize>stride) << 4;
  let k = 0;
  for (; k + 4 <= K; k += 4) {
    transpose4(to, from, stride, 32);
    transpose4(to + 16, from + half, stride, 32);
    to += 128;
    from += 16;
  }
  for (; k < K; k++) {
    for (let i = 0; i < 8; i++) store<f32>(at(to, i), load<f32>(at(from, i * stride)));
    to += 32;
    from += 4;
  }
}

/** Four rows of four floats (rows `stride` floats apart) to four columns, `step` bytes apart. */
@inline
export function transpose4(to: usize, from: usize, stride: i32, step: usize): void {
  const row = (<usize>stride) << 2;
  const a = v128.load(from);
  const b = v128.load(from + row);
  const c = v128.load(from + 2 * row);
  const d = v128.load(from + 3 * row);
  const ab0 = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
  const ab1 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
  const cd0 = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
  const cd1 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<i64>(ab0, cd0, 0, 2));
  v128.store(to + step, v128.shuffle<i64>(ab0, cd0, 1, 3));
  v128.store(to + 2 * step, v128.shuffle<i64>(ab1, cd1, 0, 2));
  v128.store(to + 3 * step, v128.shuffle<i64>(ab1, cd1, 1, 3));
}

/** [K][width] of which only the first `count` columns exist. */
function packEdge(to: usize, from: usize, K: i32, count: i32, width: i32, strideK: i32, stride: i32): void {
  for (let k = 0; k < K; k++) {
    for (let i = 0; i < width; i++)
      store<f32>(at(to, k * width + i), i < count ? load<f32>(at(from, k * strideK + i * stride)) : 0);
  }
}

/** Rows [row, row + rows) and inner indices [k0, k0 + K) of A as panels of [K][6]. */
export function packA(packed: usize, a: usize, rows: i32, K: i32, strideM: i32, strideK: i32): void {
  let to = packed;
  for (let m = 0; m < rows; m += MR) {
    const from = at(a, m * strideM);
    if (m + MR > rows) packEdge(to, from, K, rows - m, MR, strideK, strideM);
    else if (strideM == 1) copyRows6(to, from, K, strideK);
    else transpose6(to, from, K, strideM);
    to += <usize>K * (MR * 4);
  }
}

/** [K][6] from K rows of 6 neighbours. */
function copyRows6(to: usize, from: usize, K: i32, stride: i32): void {
  const step = (<usize>stride) << 2;
  for (let k = 0; k < K; k++) {
    v128.store(to, v128.load(from));
    store<i64>(to, load<i64>(from, 16), 16);
    to += 24;
    from += step;
  }
}

/** [K][6] from 6 rows of K neighbours. */
function transpose6(to: usize, from: usize, K: i32, stride: i32): void {
  const row = (<usize>stride) << 2;
  let k = 0;
  for (; k + 4 <= K; k += 4) {
    transpose4(to, from, stride, 24);
    const e = v128.load(from + 4 * row);
    const f = v128.load(from + 5 * row);
    const low = v128.shuffle<i32>(e, f, 0, 4, 1, 5);
    const high = v128.shuffle<i32>(e, f, 2, 6, 3, 7);
    v128.store64_lane(to, low, 0, 16);
    v128.store64_lane(to, low, 1, 40);
    v128.store64_lane(to, high, 0, 64);
    v128.store64_lane(to, high, 1, 88);
    to += 96;
    from += 16;
  }
  for (; k < K; k++) {
    for (let i = 0; i < 6; i++) store<f32>(at(to, i), load<f32>(at(from, i * stride)));
    to += 24;
    from += 4;
  }
}
