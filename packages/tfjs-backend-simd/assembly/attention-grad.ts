/**
 * The gradient of attention.ts: weights are computed again from each row's log-sum. With m the factors of dropout,
 *
 *     dv_j = Σ_i m_ij p_ij dOut_i     ds_ij = p_ij·(m_ij ⟨dOut_i, v_j⟩ − ⟨dOut_i, out_i⟩)     dBias_{j−i} = Σ ds_ij
 *     dq_i = scale·Σ_j cap′·ds_ij k_j     dk_j = scale·Σ_i cap′·ds_ij q_i
 */
import { packQueries, scoreBlock, weighBlock, writeRow, zero } from './attention';
import { dot } from './attention-few';
import { BLOCK, firstKey, lastKey, padded, Problem, ROW, SQUARE, seenKeys } from './attention-problem';
import { addToBias, biasRow, findRuns, finishScores, keptWeights, keyPlaces } from './attention-scores';
import { expBelow4 } from './math';
import { MR, NR, packA, packB } from './pack';
import { multiplyPanels } from './tiles';
import { at, splat, threadScratch } from './simd';

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
    if (p.dBias) memory.fill(at(p.dBias, (b * p.H + h) * p.biasWidth), 0, (<usize>p.biasWidth) << 2);
    for (let i0 = 0; i0 < p.Tq; i0 += BLOCK) gradBlock(p, b, h, i0, keyPanels, valuePanels, keyRows, dk, dv, block);
  }
  for (let j = 0; j < p.Tk; j++) {
    const row = <usize>(kv * p.Tk + j);
    writeRow(p.dk + ((row * <usize>p.Dr) << 2), at(dk, j * wideR), p.Dr, p.scale);
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
  const runs = at(inner, BLOCK);
  const weights = at(runs, BLOCK);
  const slopes = at(weights, SQUARE);
  const dScores = at(slopes, SQUARE);
  const panels = at(dScores, SQUARE);

  const q = p.q + ((<usize>(head * p.Tq + i0) * <usize>p.Dr) << 2);
  const outAt = (<usize>(head * p.Tq + i0) * <usize>p.Dv) << 2;
  packQueries(p, queryPanels, q, rows);
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
    scoreBlock(p, weights, queryPanels, keyPanels + <usize>j0 * <usize>(p.Dr * 4), p.Dr, i0, rows, j0, cols);
    if (p.bias) findRuns(keyPlaces(p, b, j0), runs, cols);
    finishScores(p, weights, p.softcap > 0 ? slopes : 0, runs, b, h, i0, rows, j0, cols);
    scoreBlock(p, dScores, outPanels, valuePanels + <usize>j0 * <usize>(p.Dv * 4), p.Dv, i0, rows, j0, cols);
    for (let i = 0; i < rows; i++) {
      const row = (<usize>i) * ROW;
      const query = head * p.Tq + i0 + i;
      const seen = seenKeys(p, i0 + i, j0, cols);
      gradRow(p, weights + row, dScores + row, query, j0, seen, load<f32>(at(inner, i)));
      zero(weights + row, seen, cols);
      zero(dScores + row, seen, cols);
      if (p.dBias)
        addToBias(biasRow(p, p.dBias, head, b, i0 + i), dScores + row, keyPlaces(p, b, j0), runs, cols);
      if (p.softcap > 0) multiplyRow(dScores + row, slopes + row, seen);
    }
    packA(panels, weights, cols, rows, 1, BLOCK);
    gatherBlock(p, at(dv, j0 * wideV), wideV, panels, outRows, i0, rows, j0, cols);
    packA(panels, dScores, cols, rows, 1, BLOCK);
    gatherBlock(p, at(dk, j0 * wideR), wideR, panels, queryRows, i0, rows, j0, cols);
    packA(panels, dScores, rows, cols, BLOCK, 1);
    weighBlock(p, dq, wideR, panels, keyRows + ((<usize>j0) << 5), i0, rows, j0, cols);
  }
  for (let i = 0; i < rows; i++)
    writeRow(p.dq + ((<usize>(head * p.Tq + i0 + i) * <usize>p.Dr) << 2), at(dq, i * wideR), p.Dr, p.scale);
}

/** to += for each key the queries' rows, weighed by a transposed block. Queries before the first that sees the key are left out. */
function gatherBlock(
  p: Problem,
  to: usize,
  width: i32,
  panels: usize,
  queryRows: usize,
  i0: i32,
  rows: i32,
  j0: i32,
  cols: i32,
): void {
  const whole = seenKeys(p, i0, j0, cols) == cols;
  const step = whole ? ((cols + MR - 1) / MR) * MR : MR;
  const place = j0 - i0 - (p.Tk - p.Tq) - (p.causal ? 0 : p.reach);
  for (let m = 0; m < cols; m += step) {
    const first = whole ? 0 : min(rows, max(0, place + m));
    const panel = at(panels, m * rows + MR * first);
    multiplyPanels(panel, at(queryRows, NR * first), at(to, m * width), step, width, rows - first, rows, width, true, 0);
  }
}

/** Scores become (dropped) weights, and the gradient of those that of the scores. Rows have room for eights. */
@inline
function gradRow(p: Problem, weights: usize, dScores: usize, query: i32, j0: i32, cols: i32, inner: f32): void {
  const logSum = splat(load<f32>(at(p.logSums, query)));
  const mean = splat(inner);
  if (p.threshold) {
    for (let j = 0; j < cols; j += 4) {
      const weight = expBelow4(f32x4.sub(v128.load(at(weights, j)), logSum));
      const kept = keptWeights(p, query, j0 + j);
      const slope = f32x4.mul(v128.load(at(dScores, j)), kept);
      v128.store(at(weights, j), f32x4.mul(weight, kept));
      v128.store(at(dScores, j), f32x4.mul(weight, f32x4.sub(slope, mean)));
    }
    return;
  }
  for (let j = 0; j < cols; j += 8) {
    const w0 = expBelow4(f32x4.sub(v128.load(at(weights, j)), logSum));
    const w1 = expBelow4(f32x4.sub(v128.load(at(weights, j), 16), logSum));
    const d0 = v128.load(at(dScores, j));
    const d1 = v128.load(at(dScores, j), 16);
    v128.store(at(weights, j), w0);
    v128.store(at(weights, j), w1, 16);
    v128.store(at(dScores, j), f32x4.mul(w0, f32x4.sub(d0, mean)));
    v128.store(at(dScores, j), f32x4.mul(w1, f32x4.sub(d1, mean)), 16);
  }
}

@inline
function multiplyRow(to: usize, factors: usize, cols: i32): void {
  for (let j = 0; j < cols; j += 4) v128.store(at(to, j), f32x4.mul(v128.load(at(to, j)), v128.load(at(factors, j))));
}
