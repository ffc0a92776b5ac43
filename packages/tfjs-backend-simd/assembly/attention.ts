/**
 * Attention without its matrix of scores (Rabe & Staats 2021, Dao 2022): blocks of 48 queries meet blocks of 48 keys, and
 * a row keeps its running maximum and sum. The backward pass computes the weights again from the row's log-sum.
 *
 *     s_ij = cap(scale·⟨q_i, k_j⟩) + bias_{j−i}     p = softmax over visible j     out_i = Σ_j p_ij·v_j
 *
 * Scores and products are tiles of the matrix product's micro-kernel; what it reads is packed for it.
 */
import { exp1, exp4, log1, tanh4 } from './math';
import { packA, packB, tile6x8 } from './matmul';
import { rowMax } from './reduce';
import { at, laneSum, madd, splat, threadScratch } from './simd';
import { expInto } from './softmax';

/** Queries and keys of a block: a multiple of the tile's 6 rows and of its 8 columns. */
const BLOCK: i32 = 48;
const ROW: usize = BLOCK * 4;
const SQUARE: i32 = BLOCK * BLOCK;

/** What src/kernels/attention.ts writes, field by field. Shapes: q [B, H, Tq, Dr], k [B, Hkv, Tk, Dr], v [B, Hkv, Tk, Dv]. */
@unmanaged
class Problem {
  scratch: usize;
  scratchBytes: i32;
  q: usize;
  k: usize;
  v: usize;
  /** Forward: k as panels of 8 keys, v as panels of 8 columns. */
  kPacked: usize;
  vPacked: usize;
  out: usize;
  /** [B, H, Tq] log Σ e^s; +∞ where a query sees no key. */
  logSums: usize;
  /** [H, Tq + Tk − 1], offset −(Tq − 1) first; 0: none. */
  bias: usize;
  /** [B|1, Tq] and [B|1, Tk]: a query sees keys of the same number; 0: all. Strides: from one row to the next, or 0. */
  querySegments: usize;
  keySegments: usize;
  querySegmentStride: i32;
  keySegmentStride: i32;
  H: i32;
  Hkv: i32;
  Tq: i32;
  Tk: i32;
  Dr: i32;
  Dv: i32;
  scale: f32;
  /** 0: none. */
  softcap: f32;
  causal: i32;
  /** A query sees this many keys before and after its own place. */
  reach: i32;
  /** Backward. */
  dOut: usize;
  dq: usize;
  dk: usize;
  dv: usize;
  /** [B, H, Tq + Tk − 1] */
  dBias: usize;
}

export function attentionBlock(): i32 {
  return BLOCK;
}

@inline
function padded(width: i32): i32 {
  return (width + 7) & ~7;
}

/** First and last key that query i sees, before segments. */
@inline
function firstKey(p: Problem, i: i32): i32 {
  return max(0, p.Tk - p.Tq + i - p.reach);
}
@inline
function lastKey(p: Problem, i: i32): i32 {
  const place = p.Tk - p.Tq + i;
  return p.causal ? place : min(p.Tk - 1, place + p.reach);
}

/** Bytes of scratch per thread that `attention` needs. */
export function attentionScratchBytes(Dr: i32, Dv: i32): i32 {
  return 4 * (BLOCK * Dr + 2 * SQUARE + BLOCK * padded(Dv) + 2 * BLOCK);
}

/** Blocks of queries [begin, end), numbered through B, H and blocks of 48. */
export function attention(begin: i32, end: i32, problem: usize): void {
  const p = changetype<Problem>(problem);
  const blocks = (p.Tq + BLOCK - 1) / BLOCK;
  for (let item = begin; item < end; item++) attendBlock(p, item / blocks, (item % blocks) * BLOCK);
}

function attendBlock(p: Problem, head: i32, i0: i32): void {
  const b = head / p.H;
  const h = head % p.H;
  const kv = b * p.Hkv + h / (p.H / p.Hkv);
  const rows = min(BLOCK, p.Tq - i0);
  const wide = padded(p.Dv);
  const queries = threadScratch(p.scratch, p.scratchBytes);
  const scores = at(queries, BLOCK * p.Dr);
  const weights = at(scores, SQUARE);
  const sums = at(weights, SQUARE);
  const maxima = at(sums, BLOCK * wide);
  const totals = at(maxima, BLOCK);
  memory.fill(sums, 0, (<usize>(BLOCK * wide)) << 2);
  memory.fill(totals, 0, ROW);
  for (let i = 0; i < BLOCK; i++) store<f32>(at(maxima, i), -Infinity);
  packA(queries, p.q + ((<usize>(head * p.Tq + i0) * <usize>p.Dr) << 2), rows, p.Dr, p.Dr, 1);
  const keys = p.kPacked + ((<usize>kv * <usize>padded(p.Tk) * <usize>p.Dr) << 2);
  const values = p.vPacked + ((<usize>kv * <usize>wide * <usize>p.Tk) << 2);

  const last = lastKey(p, i0 + rows - 1);
  for (let j0 = (firstKey(p, i0) / BLOCK) * BLOCK; j0 <= last; j0 += BLOCK) {
    const cols = min(BLOCK, p.Tk - j0);
    multiply(scores, BLOCK, queries, keys + <usize>j0 * <usize>(p.Dr * 4), rows, cols, p.Dr, p.Dr);
    finishScores(p, scores, 0, b, h, i0, rows, j0, cols);
    for (let i = 0; i < rows; i++)
      softmaxStep(scores + <usize>i * ROW, cols, at(maxima, i), at(totals, i), at(sums, i * wide), wide);
    packA(weights, scores, rows, cols, BLOCK, 1);
    accumulate(sums, wide, weights, values + ((<usize>j0) << 5), rows, wide, cols, p.Tk);
  }

  for (let i = 0; i < rows; i++) {
    const total = load<f32>(at(totals, i));
    const row = head * p.Tq + i0 + i;
    store<f32>(at(p.logSums, row), total == 0 ? Infinity : load<f32>(at(maxima, i)) + log1(total));
    const factor: f32 = total == 0 ? 0 : 1 / total;
    writeRow(p.out + ((<usize>row * <usize>p.Dv) << 2), at(sums, i * wide), p.Dv, factor);
  }
}

/** One row meets one more block: its scores become weights relative to the new maximum; what was summed is rescaled. */
@inline
function softmaxStep(scores: usize, cols: i32, maximum: usize, total: usize, sums: usize, wide: i32): void {
  const before = load<f32>(maximum);
  const now = max(before, rowMax(scores, cols));
  if (now == -Infinity) {
    memory.fill(scores, 0, (<usize>cols) << 2);
    return;
  }
  const sum = expInto(scores, scores, cols, now);
  if (now == before) {
    store<f32>(total, load<f32>(total) + sum);
    return;
  }
  const factor = exp1(before - now);
  store<f32>(maximum, now);
  store<f32>(total, load<f32>(total) * factor + sum);
  const f = splat(factor);
  for (let d = 0; d < wide; d += 4) v128.store(at(sums, d), f32x4.mul(v128.load(at(sums, d)), f));
}

/** to = panels of A times panels of B: rows by cols, inner length K. `panel`: inner length of the whole panels of B. */
@inline
function multiply(to: usize, stride: i32, a: usize, b: usize, rows: i32, cols: i32, K: i32, panel: i32): void {
  for (let n = 0; n < cols; n += 8) {
    for (let m = 0; m < rows; m += 6)
      tile6x8(at(a, m * K), b + ((<usize>n * <usize>panel) << 2), at(to, m * stride + n), K, stride, false);
  }
}

@inline
function accumulate(to: usize, stride: i32, a: usize, b: usize, rows: i32, cols: i32, K: i32, panel: i32): void {
  for (let n = 0; n < cols; n += 8) {
    for (let m = 0; m < rows; m += 6)
      tile6x8(at(a, m * K), b + ((<usize>n * <usize>panel) << 2), at(to, m * stride + n), K, stride, true);
  }
}

/** Scale, softcap, bias and mask. `slopes` (0: not wanted): d cap(s)/ds. */
function finishScores(
  p: Problem,
  scores: usize,
  slopes: usize,
  b: i32,
  h: i32,
  i0: i32,
  rows: i32,
  j0: i32,
  cols: i32,
): void {
  const inverse: f32 = p.softcap > 0 ? p.scale / p.softcap : 0;
  for (let r = 0; r < rows; r++) {
    const i = i0 + r;
    const row = scores + <usize>r * ROW;
    const bias = p.bias ? at(p.bias, h * (p.Tq + p.Tk - 1) + p.Tq - 1 - i + j0) : 0;
    if (p.softcap > 0) {
      for (let j = 0; j < cols; j += 4) {
        const t = tanh4(f32x4.mul(v128.load(at(row, j)), splat(inverse)));
        v128.store(at(row, j), f32x4.mul(t, splat(p.softcap)));
        if (slopes) v128.store(at(slopes + <usize>r * ROW, j), f32x4.sub(splat(1), f32x4.mul(t, t)));
      }
    } else {
      for (let j = 0; j < cols; j += 4) v128.store(at(row, j), f32x4.mul(v128.load(at(row, j)), splat(p.scale)));
    }
    if (bias) {
      let j = 0;
      for (; j + 4 <= cols; j += 4) v128.store(at(row, j), f32x4.add(v128.load(at(row, j)), v128.load(at(bias, j))));
      for (; j < cols; j++) store<f32>(at(row, j), load<f32>(at(row, j)) + load<f32>(at(bias, j)));
    }
    const first = min(cols, firstKey(p, i) - j0);
    for (let j = 0; j < first; j++) store<f32>(at(row, j), -Infinity);
    for (let j = max(0, lastKey(p, i) + 1 - j0); j < cols; j++) store<f32>(at(row, j), -Infinity);
    if (p.keySegments) {
      const own = load<i32>(at(p.querySegments, b * p.querySegmentStride + i));
      const others = at(p.keySegments, b * p.keySegmentStride + j0);
      for (let j = 0; j < cols; j++) if (load<i32>(at(others, j)) != own) store<f32>(at(row, j), -Infinity);
    }
  }
}

function writeRow(to: usize, from: usize, count: i32, factor: f32): void {
  let d = 0;
  for (; d + 4 <= count; d += 4) v128.store(at(to, d), f32x4.mul(v128.load(at(from, d)), splat(factor)));
  for (; d < count; d++) store<f32>(at(to, d), load<f32>(at(from, d)) * factor);
}

/** Bytes of scratch per thread that `attentionGrad` needs. */
export function attentionGradScratchBytes(Tk: i32, Dr: i32, Dv: i32): i32 {
  const keys = padded(Tk) * (Dr + Dv) + padded(Dr) * Tk + (Tk + BLOCK) * (padded(Dr) + padded(Dv));
  const block = BLOCK * (Dr + Dv + 2 * padded(Dr) + padded(Dv) + 2);
  return 4 * (keys + block + 4 * SQUARE);
}

/** Key/value heads [begin, end) of all B·Hkv, each with all queries of its group. */
export function attentionGrad(begin: i32, end: i32, problem: usize): void {
  const p = changetype<Problem>(problem);
  for (let kv = begin; kv < end; kv++) gradHead(p, kv);
}

function gradHead(p: Problem, kv: i32): void {
  const wideR = padded(p.Dr);
  const wideV = padded(p.Dv);
  const k = p.k + ((<usize>kv * <usize>p.Tk * <usize>p.Dr) << 2);
  const v = p.v + ((<usize>kv * <usize>p.Tk * <usize>p.Dv) << 2);
  const keyPanels = threadScratch(p.scratch, p.scratchBytes);
  const valuePanels = at(keyPanels, padded(p.Tk) * p.Dr);
  const keyRows = at(valuePanels, padded(p.Tk) * p.Dv);
  const dk = at(keyRows, wideR * p.Tk);
  const dv = at(dk, (p.Tk + BLOCK) * wideR);
  const block = at(dv, (p.Tk + BLOCK) * wideV);
  packB(0, padded(p.Tk) >> 3, keyPanels, k, p.Dr, p.Tk, 1, p.Dr, 0, padded(p.Tk));
  packB(0, padded(p.Tk) >> 3, valuePanels, v, p.Dv, p.Tk, 1, p.Dv, 0, padded(p.Tk));
  packB(0, wideR >> 3, keyRows, k, p.Tk, p.Dr, p.Dr, 1, 0, wideR);
  memory.fill(dk, 0, (<usize>((p.Tk + BLOCK) * (wideR + wideV))) << 2);

  const group = p.H / p.Hkv;
  const b = kv / p.Hkv;
  const first = (kv % p.Hkv) * group;
  for (let h = first; h < first + group; h++) {
    const n = p.Tq + p.Tk - 1;
    if (p.dBias) memory.fill(at(p.dBias, (b * p.H + h) * n), 0, (<usize>n) << 2);
    for (let i0 = 0; i0 < p.Tq; i0 += BLOCK) gradBlock(p, b, h, i0, keyPanels, valuePanels, keyRows, dk, dv, block);
  }
  for (let j = 0; j < p.Tk; j++) {
    const row = <usize>(kv * p.Tk + j);
    writeRow(p.dk + ((row * <usize>p.Dr) << 2), at(dk, j * wideR), p.Dr, 1);
    writeRow(p.dv + ((row * <usize>p.Dv) << 2), at(dv, j * wideV), p.Dv, 1);
  }
}

function gradBlock(
  p: Problem,
  b: i32,
  h: i32,
  i0: i32,
  keyPanels: usize,
  valuePanels: usize,
  keyRows: usize,
  dk: usize,
  dv: usize,
  block: usize,
): void {
  const head = b * p.H + h;
  const rows = min(BLOCK, p.Tq - i0);
  const wideR = padded(p.Dr);
  const wideV = padded(p.Dv);
  const queryPanels = block;
  const outPanels = at(queryPanels, BLOCK * p.Dr);
  const queryRows = at(outPanels, BLOCK * p.Dv);
  const outRows = at(queryRows, BLOCK * wideR);
  const dq = at(outRows, BLOCK * wideV);
  const inner = at(dq, BLOCK * wideR);
  const weights = at(inner, 2 * BLOCK);
  const slopes = at(weights, SQUARE);
  const dScores = at(slopes, SQUARE);
  const panels = at(dScores, SQUARE);

  const q = p.q + ((<usize>(head * p.Tq + i0) * <usize>p.Dr) << 2);
  const outAt = (<usize>(head * p.Tq + i0) * <usize>p.Dv) << 2;
  packA(queryPanels, q, rows, p.Dr, p.Dr, 1);
  packA(outPanels, p.dOut + outAt, rows, p.Dv, p.Dv, 1);
  packB(0, wideR >> 3, queryRows, q, rows, p.Dr, p.Dr, 1, 0, wideR);
  packB(0, wideV >> 3, outRows, p.dOut + outAt, rows, p.Dv, p.Dv, 1, 0, wideV);
  memory.fill(dq, 0, (<usize>(BLOCK * wideR)) << 2);
  for (let i = 0; i < rows; i++) {
    const offset = outAt + ((<usize>i * <usize>p.Dv) << 2);
    store<f32>(at(inner, i), dot(p.dOut + offset, p.out + offset, p.Dv));
  }

  const last = lastKey(p, i0 + rows - 1);
  for (let j0 = (firstKey(p, i0) / BLOCK) * BLOCK; j0 <= last; j0 += BLOCK) {
    const cols = min(BLOCK, p.Tk - j0);
    multiply(weights, BLOCK, queryPanels, keyPanels + <usize>j0 * <usize>(p.Dr * 4), rows, cols, p.Dr, p.Dr);
    finishScores(p, weights, p.softcap > 0 ? slopes : 0, b, h, i0, rows, j0, cols);
    multiply(dScores, BLOCK, outPanels, valuePanels + <usize>j0 * <usize>(p.Dv * 4), rows, cols, p.Dv, p.Dv);
    for (let i = 0; i < rows; i++) {
      const row = (<usize>i) * ROW;
      const logSum = load<f32>(at(p.logSums, head * p.Tq + i0 + i));
      const dBias = p.dBias ? at(p.dBias, head * (p.Tq + p.Tk - 1) + p.Tq - 1 - i0 - i + j0) : 0;
      const slope = p.softcap > 0 ? slopes + row : 0;
      gradRow(weights + row, dScores + row, slope, dBias, cols, logSum, load<f32>(at(inner, i)), p.scale);
    }
    packA(panels, weights, cols, rows, 1, BLOCK);
    accumulate(at(dv, j0 * wideV), wideV, panels, outRows, cols, wideV, rows, rows);
    packA(panels, dScores, cols, rows, 1, BLOCK);
    accumulate(at(dk, j0 * wideR), wideR, panels, queryRows, cols, wideR, rows, rows);
    packA(panels, dScores, rows, cols, BLOCK, 1);
    accumulate(dq, wideR, panels, keyRows + ((<usize>j0) << 5), rows, wideR, cols, p.Tk);
  }
  for (let i = 0; i < rows; i++)
    writeRow(p.dq + ((<usize>(head * p.Tq + i0 + i) * <usize>p.Dr) << 2), at(dq, i * wideR), p.Dr, 1);
}

/** Scores become weights, and the gradient of the weights that of the unscaled products; the bias gets its share. */
@inline
function gradRow(
  weights: usize,
  dScores: usize,
  slopes: usize,
  dBias: usize,
  cols: i32,
  logSum: f32,
  inner: f32,
  scale: f32,
): void {
  for (let j = 0; j < cols; j += 4) {
    const weight = exp4(f32x4.sub(v128.load(at(weights, j)), splat(logSum)));
    v128.store(at(weights, j), weight);
    v128.store(at(dScores, j), f32x4.mul(weight, f32x4.sub(v128.load(at(dScores, j)), splat(inner))));
  }
  if (dBias) {
    let j = 0;
    for (; j + 4 <= cols; j += 4) v128.store(at(dBias, j), f32x4.add(v128.load(at(dBias, j)), v128.load(at(dScores, j))));
    for (; j < cols; j++) store<f32>(at(dBias, j), load<f32>(at(dBias, j)) + load<f32>(at(dScores, j)));
  }
  for (let j = 0; j < cols; j += 4) {
    const factor = slopes ? f32x4.mul(splat(scale), v128.load(at(slopes, j))) : splat(scale);
    v128.store(at(dScores, j), f32x4.mul(v128.load(at(dScores, j)), factor));
  }
}

function dot(a: usize, b: usize, n: i32): f32 {
  let sum = splat(0);
  let i = 0;
  for (; i + 4 <= n; i += 4) sum = madd(v128.load(at(a, i)), v128.load(at(b, i)), sum);
  let total = laneSum(sum);
  for (; i < n; i++) total += load<f32>(at(a, i)) * load<f32>(at(b, i));
  return total;
}
