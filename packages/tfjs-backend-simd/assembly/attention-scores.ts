/** What attention does to a block of scores beside its products: softcap, relative bias, mask, dropout. */
import { firstKey, lastKey, Problem, ROW, seenKeys } from './attention-problem';
import { keepFactors } from './dropout';
import { tanh4 } from './math';
import { at, splat } from './simd';

/** Softcap, bias and mask of the keys that a row sees; the products are scaled already. `slopes` (0: not wanted): d cap(s)/ds. `runs`: from findRuns. */
export function finishScores(
  p: Problem,
  scores: usize,
  slopes: usize,
  runs: usize,
  b: i32,
  h: i32,
  i0: i32,
  rows: i32,
  j0: i32,
  cols: i32,
): void {
  const inverse: f32 = p.softcap > 0 ? 1 / p.softcap : 0;
  for (let r = 0; r < rows; r++) {
    const i = i0 + r;
    const row = scores + <usize>r * ROW;
    const seen = seenKeys(p, i, j0, cols);
    if (p.softcap > 0) {
      for (let j = 0; j < seen; j += 4) {
        const t = tanh4(f32x4.mul(v128.load(at(row, j)), splat(inverse)));
        v128.store(at(row, j), f32x4.mul(t, splat(p.softcap)));
        if (slopes) v128.store(at(slopes + <usize>r * ROW, j), f32x4.sub(splat(1), f32x4.mul(t, t)));
      }
    }
    if (p.bias) addBias(row, biasRow(p, p.bias, h, b, i), keyPlaces(p, b, j0), runs, cols);
    const first = min(seen, firstKey(p, i) - j0);
    for (let j = 0; j < first; j++) store<f32>(at(row, j), -Infinity);
    for (let j = max(0, lastKey(p, i) + 1 - j0); j < seen; j++) store<f32>(at(row, j), -Infinity);
    if (p.keySegments) {
      const own = load<i32>(at(p.querySegments, b * p.querySegmentStride + i));
      const others = at(p.keySegments, b * p.keySegmentStride + j0);
      for (let j = 0; j < seen; j++) if (load<i32>(at(others, j)) != own) store<f32>(at(row, j), -Infinity);
    }
  }
}

/** Row `row` of a [·, biasWidth] table, shifted so that a key's place is its index for query i. */
@inline
export function biasRow(p: Problem, table: usize, row: i32, b: i32, i: i32): usize {
  return at(table, row * p.biasWidth - load<i32>(at(p.queryPlaces, b * p.queryPlaceStride + i)));
}

@inline
export function keyPlaces(p: Problem, b: i32, j0: i32): usize {
  return at(p.keyPlaces, b * p.keyPlaceStride + j0);
}

/** At each key that begins a run of consecutive places, where the run ends: [cols]. Runs are added as vectors. */
export function findRuns(places: usize, runs: usize, cols: i32): void {
  let start = 0;
  for (let j = 1; j <= cols; j++) {
    if (j < cols && load<i32>(at(places, j)) == load<i32>(at(places, j - 1)) + 1) continue;
    store<i32>(at(runs, start), j);
    start = j;
  }
}

/** scores[j] += bias[places[j]] */
@inline
function addBias(scores: usize, bias: usize, places: usize, runs: usize, cols: i32): void {
  for (let j = 0; j < cols; ) {
    const end = load<i32>(at(runs, j));
    addRun(at(scores, j), at(bias, load<i32>(at(places, j))), end - j);
    j = end;
  }
}

/** dBias[places[j]] += dScores[j] */
@inline
export function addToBias(dBias: usize, dScores: usize, places: usize, runs: usize, cols: i32): void {
  for (let j = 0; j < cols; ) {
    const end = load<i32>(at(runs, j));
    addRun(at(dBias, load<i32>(at(places, j))), at(dScores, j), end - j);
    j = end;
  }
}

@inline
function addRun(to: usize, from: usize, count: i32): void {
  let j = 0;
  for (; j + 4 <= count; j += 4) v128.store(at(to, j), f32x4.add(v128.load(at(to, j)), v128.load(at(from, j))));
  for (; j < count; j++) store<f32>(at(to, j), load<f32>(at(to, j)) + load<f32>(at(from, j)));
}

/** What the weights of query `row` of all B·H·Tq and keys j … j + 3 are multiplied by. */
@inline
export function keptWeights(p: Problem, row: i32, j: i32): v128 {
  return keepFactors(row * p.Tk + j, p.keyLow, p.keyHigh, p.threshold, p.factor);
}
