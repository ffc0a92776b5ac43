/**
 * Attention without its matrix of scores (Rabe & Staats 2021, Dao 2022): blocks of 48 queries meet blocks of 48 keys, and
 * a row keeps its running maximum and sum. The backward pass computes the weights again from the row's log-sum.
 *
 *     s_ij = cap(scale·⟨q_i, k_j⟩) + bias_{j−i}     p = softmax over visible j     out_i = Σ_j drop(p_ij)·v_j
 *
 * Scores and products are tiles of the matrix product's micro-kernel; what it reads is packed for it.
 */
import { scaleQueries, scoreRows, weighRows } from './attention-few';
import {
  BLOCK,
  firstKey,
  isHidden,
  lastKey,
  padded,
  Problem,
  ROW,
  rowsAtOnce,
  SQUARE,
  seenKeys,
} from './attention-problem';
import { findRuns, finishScores, keptWeights, keyPlaces } from './attention-scores';
import { exp1, log1 } from './math';
import { packA } from './pack';
import { rowPeak } from './reduce';
import { at, splat, threadScratch } from './simd';
import { expInto } from './softmax';
import { multiplyPanels } from './tiles';

/** Bytes of scratch per thread that `attention` needs. */
export function attentionScratchBytes(Dr: i32, Dv: i32): i32 {
  return 4 * (BLOCK * Dr + 2 * SQUARE + BLOCK * padded(Dv) + 3 * BLOCK);
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
  const runs = at(totals, BLOCK);
  memory.fill(sums, 0, (<usize>(BLOCK * wide)) << 2);
  memory.fill(totals, 0, ROW);
  for (let i = 0; i < BLOCK; i++) store<f32>(at(maxima, i), -Infinity);
  const few = p.kPacked == 0;
  const q = p.q + ((<usize>(head * p.Tq + i0) * <usize>p.Dr) << 2);
  if (few) scaleQueries(p, queries, q, rows);
  else packQueries(p, queries, q, rows);
  const keyRows = p.k + ((<usize>kv * <usize>p.Tk * <usize>p.Dr) << 2);
  const valueRows = p.v + ((<usize>kv * <usize>p.Tk * <usize>p.Dv) << 2);
  const keys = p.kPacked + ((<usize>kv * <usize>padded(p.Tk) * <usize>p.Dr) << 2);
  const values = p.vPacked + ((<usize>kv * <usize>wide * <usize>p.Tk) << 2);

  const last = lastKey(p, i0 + rows - 1);
  for (let j0 = (firstKey(p, i0) / BLOCK) * BLOCK; j0 <= last; j0 += BLOCK) {
    const cols = min(BLOCK, p.Tk - j0);
    if (few) scoreRows(p, scores, queries, at(keyRows, j0 * p.Dr), rows, cols);
    else scoreBlock(p, scores, queries, keys + <usize>j0 * <usize>(p.Dr * 4), p.Dr, i0, rows, j0, cols);
    if (p.bias) findRuns(keyPlaces(p, b, j0), runs, cols);
    finishScores(p, scores, 0, runs, b, h, i0, rows, j0, cols);
    for (let i = 0; i < rows; i++) {
      const row = scores + <usize>i * ROW;
      const seen = seenKeys(p, i0 + i, j0, cols);
      softmaxStep(row, seen, at(maxima, i), at(totals, i), at(sums, i * wide), wide);
      zero(row, seen, cols);
      if (p.threshold) dropRow(p, row, head * p.Tq + i0 + i, j0, cols);
    }
    if (few) {
      weighRows(p, sums, wide, scores, at(valueRows, j0 * p.Dv), i0, rows, j0, cols);
      continue;
    }
    packA(weights, scores, rows, cols, BLOCK, 1);
    weighBlock(p, sums, wide, weights, values + ((<usize>j0) << 5), i0, rows, j0, cols);
  }

  for (let i = 0; i < rows; i++) {
    const total = load<f32>(at(totals, i));
    const row = head * p.Tq + i0 + i;
    const hidden = total == 0 && isHidden(p, b, i0 + i);
    // Without a weight, though keys are visible: all their scores are −∞, and 0/0 is NaN.
    const logSum: f32 = hidden ? Infinity : total == 0 ? NaN : load<f32>(at(maxima, i)) + log1(total);
    store<f32>(at(p.logSums, row), logSum);
    const factor: f32 = hidden ? 0 : 1 / total;
    writeRow(p.out + ((<usize>row * <usize>p.Dv) << 2), at(sums, i * wide), p.Dv, factor);
  }
}

/** A block of queries as panels, scaled: cheaper than scaling the scores. There is room for all of the block's rows. */
export function packQueries(p: Problem, to: usize, q: usize, rows: i32): void {
  packA(to, q, rows, p.Dr, p.Dr, 1);
  const end = at(to, BLOCK * p.Dr);
  for (let a = to; a < end; a += 16) v128.store(a, f32x4.mul(v128.load(a), splat(p.scale)));
}

/** One row meets one more block: its scores become weights relative to the new maximum; what was summed is rescaled. */
@inline
function softmaxStep(scores: usize, cols: i32, maximum: usize, total: usize, sums: usize, wide: i32): void {
  const before = load<f32>(maximum);
  const now = max(before, rowPeak(scores, cols));
  if (now == -Infinity) {
    if (hasNaN(scores, cols)) store<f32>(total, NaN);
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

function hasNaN(row: usize, count: i32): bool {
  for (let j = 0; j < count; j++) if (isNaN(load<f32>(at(row, j)))) return true;
  return false;
}

@inline
function dropRow(p: Problem, weights: usize, row: i32, j0: i32, cols: i32): void {
  for (let j = 0; j < cols; j += 4)
    v128.store(at(weights, j), f32x4.mul(v128.load(at(weights, j)), keptWeights(p, row, j0 + j)));
}

/** row[from … to) = 0. Looks first: filling nothing costs a call out of WebAssembly. */
@inline
export function zero(row: usize, from: i32, to: i32): void {
  if (from < to) memory.fill(at(row, from), 0, (<usize>(to - from)) << 2);
}

/** Products of a block of rows with a block of keys, inner length K, but for tiles that order hides. */
export function scoreBlock(
  p: Problem,
  to: usize,
  rowPanels: usize,
  keyPanels: usize,
  K: i32,
  i0: i32,
  rows: i32,
  j0: i32,
  cols: i32,
): void {
  const step = rowsAtOnce(p, i0, rows, j0, cols);
  for (let m = 0; m < rows; m += step) {
    const seen = padded(seenKeys(p, i0 + min(m + step, rows) - 1, j0, cols));
    multiplyPanels(at(rowPanels, m * K), keyPanels, at(to, m * BLOCK), step, seen, K, K, BLOCK, false, 0);
  }
}

/** to += weights of a block times rows of its keys, `width` wide. Weights that order hides are zeros, and left out. */
export function weighBlock(
  p: Problem,
  to: usize,
  width: i32,
  weightPanels: usize,
  keyRows: usize,
  i0: i32,
  rows: i32,
  j0: i32,
  cols: i32,
): void {
  const step = rowsAtOnce(p, i0, rows, j0, cols);
  for (let m = 0; m < rows; m += step) {
    const seen = seenKeys(p, i0 + min(m + step, rows) - 1, j0, cols);
    const panel = at(weightPanels, m * cols);
    multiplyPanels(panel, keyRows, at(to, m * width), step, width, seen, p.Tk, width, true, 0);
  }
}

/** to = factor·from */
export function writeRow(to: usize, from: usize, count: i32, factor: f32): void {
  let d = 0;
  for (; d + 4 <= count; d += 4) v128.store(at(to, d), f32x4.mul(v128.load(at(from, d)), splat(factor)));
  for (; d < count; d++) store<f32>(at(to, d), load<f32>(at(from, d)) * factor);
}

