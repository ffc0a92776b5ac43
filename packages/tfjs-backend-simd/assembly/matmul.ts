/**
 * C = op(A)·op(B) in float32. Both operands are packed into panels (6 rows of A, 8 columns of B, the inner index
 * running slowest to fastest as k, row), so that the innermost loop reads two short streams and keeps a 6×8 tile of C
 * in twelve registers.
 */
import { at, madd, threadScratch } from './simd';

const MR: i32 = 6;
const NR: i32 = 8;
/** Rows of A and length of the inner axis that are packed at a time: they stay in the second-level cache. */
const MC: i32 = 96;
const KC: i32 = 512;

/** Bytes of scratch that each thread needs for its panels of A. */
export function matmulScratchBytes(): i32 {
  return MC * KC * 4;
}

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

/**
 * Tiles [begin, end) of a batch of products. A tile is up to 96 rows times `columns` columns of C; the tiles of one
 * product are numbered row block by row block. B is packed; A is packed here, into this thread's scratch.
 *
 * @param scratch matmulScratchBytes() for every thread
 * @param sizeA floats from one A of the batch to the next; 0: all share it. Likewise sizeB, in packed floats.
 */
export function matmulTiles(
  begin: i32,
  end: i32,
  scratch: usize,
  a: usize,
  packedB: usize,
  c: usize,
  M: i32,
  N: i32,
  K: i32,
  strideM: i32,
  strideK: i32,
  sizeA: i32,
  sizeB: i32,
  columns: i32,
): void {
  const across = (N + columns - 1) / columns;
  const down = (M + MC - 1) / MC;
  scratch = threadScratch(scratch, matmulScratchBytes());
  for (let tile = begin; tile < end; tile++) {
    const item = tile / (across * down);
    const place = tile % (across * down);
    const m = (place / across) * MC;
    const n = (place % across) * columns;
    multiplyTile(
      scratch,
      at(a, item * sizeA + m * strideM),
      at(packedB, item * sizeB),
      c + (((<usize>item * <usize>M + <usize>m) * <usize>N) << 2),
      min(MC, M - m),
      N,
      n,
      min(n + columns, N),
      K,
      strideM,
      strideK,
    );
  }
}

/** Columns [n0, n1) of `rows` rows of C. */
function multiplyTile(
  scratch: usize,
  a: usize,
  packedB: usize,
  c: usize,
  rows: i32,
  N: i32,
  n0: i32,
  n1: i32,
  K: i32,
  strideM: i32,
  strideK: i32,
): void {
  for (let k = 0; k < K; k += KC) {
    const depth = min(KC, K - k);
    packA(scratch, at(a, k * strideK), rows, depth, strideM, strideK);
    for (let n = n0; n < n1; n += NR) {
      const panel = packedB + (((<usize>(n / NR)) * <usize>K + <usize>k) * NR) * 4;
      for (let m = 0; m < rows; m += MR) {
        const tile = at(c, m * N + n);
        const panelA = scratch + <usize>m * <usize>depth * 4;
        if (m + MR <= rows && n + NR <= n1) tile6x8(panelA, panel, tile, depth, N, k > 0);
        else edgeTile(panelA, panel, tile, depth, N, min(MR, rows - m), min(NR, n1 - n), k > 0);
      }
    }
  }
}

/** One tile: 6 rows by 8 columns of C, added to what is there if `add`. */
export function tile6x8(a: usize, b: usize, c: usize, K: i32, N: i32, add: bool): void {
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

@inline
function put(c: usize, left: v128, right: v128, add: bool): void {
  if (add) {
    left = f32x4.add(left, v128.load(c));
    right = f32x4.add(right, v128.load(c, 16));
  }
  v128.store(c, left);
  v128.store(c, right, 16);
}

/** A tile at the border of C, element by element. */
function edgeTile(a: usize, b: usize, c: usize, K: i32, N: i32, rows: i32, columns: i32, add: bool): void {
  for (let i = 0; i < rows; i++) {
    let left = f32x4.splat(0);
    let right = f32x4.splat(0);
    let from = at(a, i);
    let panel = b;
    for (let k = 0; k < K; k++) {
      const x = v128.load32_splat(from);
      left = madd(x, v128.load(panel), left);
      right = madd(x, v128.load(panel, 16), right);
      from += MR * 4;
      panel += NR * 4;
    }
    const row = at(c, i * N);
    for (let j = 0; j < columns; j++) {
      const value = lane(j < 4 ? left : right, j & 3);
      store<f32>(at(row, j), add ? value + load<f32>(at(row, j)) : value);
    }
  }
}

@inline
function lane(x: v128, i: i32): f32 {
  if (i == 0) return f32x4.extract_lane(x, 0);
  if (i == 1) return f32x4.extract_lane(x, 1);
  if (i == 2) return f32x4.extract_lane(x, 2);
  return f32x4.extract_lane(x, 3);
}

/**
 * Few rows (decoding): products [begin, end) of a batch straight from the operands, without packing.
 * Element (k, n) of B is at b + 4·(k·strideK + n·strideN).
 */
export function matmulFewRows(
  begin: i32,
  end: i32,
  a: usize,
  b: usize,
  c: usize,
  M: i32,
  N: i32,
  K: i32,
  strideM: i32,
  strideAK: i32,
  strideK: i32,
  strideN: i32,
  sizeA: i32,
  sizeB: i32,
): void {
  for (let item = begin; item < end; item++) {
    const itemA = at(a, item * sizeA);
    const itemB = at(b, item * sizeB);
    const itemC = c + ((<usize>item * <usize>M * <usize>N) << 2);
    for (let m = 0; m < M; m++) {
      const row = at(itemA, m * strideM);
      const out = at(itemC, m * N);
      if (strideN == 1) rowTimesRows(row, itemB, out, N, K, strideAK, strideK);
      else if (strideAK == 1 && strideK == 1) rowDotRows(row, itemB, out, N, K, strideN);
      else {
        for (let n = 0; n < N; n++) {
          let sum: f32 = 0;
          for (let k = 0; k < K; k++)
            sum += load<f32>(at(row, k * strideAK)) * load<f32>(at(itemB, k * strideK + n * strideN));
          store<f32>(at(out, n), sum);
        }
      }
    }
  }
}

/** out = Σ_k a_k · B_k, rows of B being contiguous. */
function rowTimesRows(a: usize, b: usize, out: usize, N: i32, K: i32, strideA: i32, stride: i32): void {
  let n = 0;
  for (; n + 16 <= N; n += 16) {
    let s0 = f32x4.splat(0), s1 = f32x4.splat(0), s2 = f32x4.splat(0), s3 = f32x4.splat(0);
    let from = at(b, n);
    let x = a;
    for (let k = 0; k < K; k++) {
      const scale = v128.load32_splat(x);
      s0 = madd(scale, v128.load(from), s0);
      s1 = madd(scale, v128.load(from, 16), s1);
      s2 = madd(scale, v128.load(from, 32), s2);
      s3 = madd(scale, v128.load(from, 48), s3);
      from += (<usize>stride) << 2;
      x += (<usize>strideA) << 2;
    }
    const to = at(out, n);
    v128.store(to, s0);
    v128.store(to, s1, 16);
    v128.store(to, s2, 32);
    v128.store(to, s3, 48);
  }
  for (; n < N; n++) {
    let sum: f32 = 0;
    for (let k = 0; k < K; k++) sum += load<f32>(at(a, k * strideA)) * load<f32>(at(b, k * stride + n));
    store<f32>(at(out, n), sum);
  }
}

/** out_n = ⟨a, B_n⟩, both contiguous. */
function rowDotRows(a: usize, b: usize, out: usize, N: i32, K: i32, stride: i32): void {
  for (let n = 0; n < N; n++) {
    const row = at(b, n * stride);
    let s0 = f32x4.splat(0), s1 = f32x4.splat(0);
    let k = 0;
    for (; k + 8 <= K; k += 8) {
      s0 = madd(v128.load(at(a, k)), v128.load(at(row, k)), s0);
      s1 = madd(v128.load(at(a, k), 16), v128.load(at(row, k), 16), s1);
    }
    s0 = f32x4.add(s0, s1);
    let sum = f32x4.extract_lane(s0, 0) + f32x4.extract_lane(s0, 1) + f32x4.extract_lane(s0, 2) + f32x4.extract_lane(s0, 3);
    for (; k < K; k++) sum += load<f32>(at(a, k)) * load<f32>(at(row, k));
    store<f32>(at(out, n), sum);
  }
}
