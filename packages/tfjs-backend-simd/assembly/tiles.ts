/**
 * The micro-kernels of the matrix product: a tile of C stays in registers while two short streams go by, a panel of A and
 * one or two panels of B (pack.ts). Each number of C is one chain of multiply-adds along k, so that the tiles agree bit
 * by bit.
 */
import { MR, NR } from './pack';
import { at, madd } from './simd';

/** Bytes that a tile at the border needs for itself. */
export const tileScratchBytes: i32 = MR * 2 * NR * 4;

let wide: bool = false;

/** 1: this processor runs the 6×16 tile faster, which needs 256-bit registers (wasm's 128-bit operations joined in pairs). */
export function setWide(value: i32): void {
  wide = value != 0;
}

/**
 * C[rows, cols] = or += panels of A[rows, K]·panels of B[K, cols]. `depth`: the inner length of B's whole panels, of which K
 * is a part. `stride`: floats from one row of C to the next. Nothing outside C is written.
 */
export function multiplyPanels(
  a: usize,
  b: usize,
  c: usize,
  rows: i32,
  cols: i32,
  K: i32,
  depth: i32,
  stride: i32,
  add: bool,
  scratch: usize,
): void {
  const panel = (<usize>(depth * NR)) << 2;
  for (let n = 0; n < cols; ) {
    const pair = wide && n + NR < cols;
    const width = min(pair ? 2 * NR : NR, cols - n);
    const whole = width == (pair ? 2 * NR : NR);
    const panelB = b + <usize>(n / NR) * panel;
    for (let m = 0; m < rows; m += MR) {
      const panelA = at(a, m * K);
      const tile = at(c, m * stride + n);
      const inside = whole && m + MR <= rows;
      const to = inside ? tile : scratch;
      const step = inside ? stride : 2 * NR;
      if (pair) tile6x16(panelA, panelB, panelB + panel, to, K, step, inside && add);
      else tile6x8(panelA, panelB, to, K, step, inside && add);
      if (!inside) putPart(tile, stride, scratch, min(MR, rows - m), width, add);
    }
    n += width;
  }
}

/** What exists of a tile at the border. */
function putPart(to: usize, stride: i32, from: usize, rows: i32, cols: i32, add: bool): void {
  for (let i = 0; i < rows; i++) {
    const row = at(to, i * stride);
    const values = at(from, i * 2 * NR);
    let j = 0;
    for (; j + 4 <= cols; j += 4) {
      const value = v128.load(at(values, j));
      v128.store(at(row, j), add ? f32x4.add(value, v128.load(at(row, j))) : value);
    }
    for (; j < cols; j++) {
      const value = load<f32>(at(values, j));
      store<f32>(at(row, j), add ? value + load<f32>(at(row, j)) : value);
    }
  }
}

/** One tile: 6 rows by 8 columns of C in twelve registers, added to what is there if `add`. */
function tile6x8(a: usize, b: usize, c: usize, K: i32, N: i32, add: bool): void {
  const zero = f32x4.splat(0);
  let c00 = zero, c01 = zero, c10 = zero, c11 = zero, c20 = zero, c21 = zero;
  let c30 = zero, c31 = zero, c40 = zero, c41 = zero, c50 = zero, c51 = zero;
  const end = b + <usize>K * (NR * 4);
  while (b < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    let x = v128.load32_splat(a);
    c00 = madd(x, b0, c00);
    c01 = madd(x, b1, c01);
    x = v128.load32_splat(a, 4);
    c10 = madd(x, b0, c10);
    c11 = madd(x, b1, c11);
    x = v128.load32_splat(a, 8);
    c20 = madd(x, b0, c20);
    c21 = madd(x, b1, c21);
    x = v128.load32_splat(a, 12);
    c30 = madd(x, b0, c30);
    c31 = madd(x, b1, c31);
    x = v128.load32_splat(a, 16);
    c40 = madd(x, b0, c40);
    c41 = madd(x, b1, c41);
    x = v128.load32_splat(a, 20);
    c50 = madd(x, b0, c50);
    c51 = madd(x, b1, c51);
    a += MR * 4;
    b += NR * 4;
  }
  const row = (<usize>N) << 2;
  put(c, c00, c01, add);
  put(c + row, c10, c11, add);
  put(c + 2 * row, c20, c21, add);
  put(c + 3 * row, c30, c31, add);
  put(c + 4 * row, c40, c41, add);
  put(c + 5 * row, c50, c51, add);
}

/** 6 rows by 16 columns in twelve registers of twice the width, from two panels of B. */
function tile6x16(a: usize, b: usize, next: usize, c: usize, K: i32, N: i32, add: bool): void {
  const zero = f32x4.splat(0);
  let c00 = zero, c01 = zero, c02 = zero, c03 = zero;
  let c10 = zero, c11 = zero, c12 = zero, c13 = zero;
  let c20 = zero, c21 = zero, c22 = zero, c23 = zero;
  let c30 = zero, c31 = zero, c32 = zero, c33 = zero;
  let c40 = zero, c41 = zero, c42 = zero, c43 = zero;
  let c50 = zero, c51 = zero, c52 = zero, c53 = zero;
  const end = b + <usize>K * (NR * 4);
  while (b < end) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    const b2 = v128.load(next);
    const b3 = v128.load(next, 16);
    let x = v128.load32_splat(a);
    c00 = madd(x, b0, c00);
    c01 = madd(x, b1, c01);
    c02 = madd(x, b2, c02);
    c03 = madd(x, b3, c03);
    x = v128.load32_splat(a, 4);
    c10 = madd(x, b0, c10);
    c11 = madd(x, b1, c11);
    c12 = madd(x, b2, c12);
    c13 = madd(x, b3, c13);
    x = v128.load32_splat(a, 8);
    c20 = madd(x, b0, c20);
    c21 = madd(x, b1, c21);
    c22 = madd(x, b2, c22);
    c23 = madd(x, b3, c23);
    x = v128.load32_splat(a, 12);
    c30 = madd(x, b0, c30);
    c31 = madd(x, b1, c31);
    c32 = madd(x, b2, c32);
    c33 = madd(x, b3, c33);
    x = v128.load32_splat(a, 16);
    c40 = madd(x, b0, c40);
    c41 = madd(x, b1, c41);
    c42 = madd(x, b2, c42);
    c43 = madd(x, b3, c43);
    x = v128.load32_splat(a, 20);
    c50 = madd(x, b0, c50);
    c51 = madd(x, b1, c51);
    c52 = madd(x, b2, c52);
    c53 = madd(x, b3, c53);
    a += MR * 4;
    b += NR * 4;
    next += NR * 4;
  }
  const row = (<usize>N) << 2;
  put(c, c00, c01, add);
  put(c + 32, c02, c03, add);
  put(c + row, c10, c11, add);
  put(c + row + 32, c12, c13, add);
  put(c + 2 * row, c20, c21, add);
  put(c + 2 * row + 32, c22, c23, add);
  put(c + 3 * row, c30, c31, add);
  put(c + 3 * row + 32, c32, c33, add);
  put(c + 4 * row, c40, c41, add);
  put(c + 4 * row + 32, c42, c43, add);
  put(c + 5 * row, c50, c51, add);
  put(c + 5 * row + 32, c52, c53, add);
}

@inline
function put(c: usize, left: v128, right: v128, add: bool): void {
  if (add) {
    left = f32x4.add(left, v128.load(c));
    right = f32x4.add(right, v128.load(c, 16));
  }
  v128.store(c, left);
  v128.store(c, right, 16);
}
