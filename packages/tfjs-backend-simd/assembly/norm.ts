/**
 * Layer norm (Ba 2016) and RMS norm (Zhang & Sennrich 2019) along rows [·, n]:
 *
 *     y = (x − mean)·rstd·gain + bias        RMS: mean = 0, no bias
 */
import { at, laneSum, madd, splat } from './simd';

/** Rows [begin, end). `bias` 0: none. Keeps mean and 1/√(var + eps) of each row for the gradient. */
export function norm(
  begin: i32,
  end: i32,
  centred: i32,
  x: usize,
  gain: usize,
  bias: usize,
  y: usize,
  means: usize,
  rstds: usize,
  n: i32,
  eps: f32,
): void {
  for (let row = begin; row < end; row++) {
    const from = x + ((<usize>row * <usize>n) << 2);
    const to = y + ((<usize>row * <usize>n) << 2);
    const mean: f32 = centred ? sumOf(from, n) / <f32>n : 0;
    const rstd: f32 = 1 / sqrt<f32>(squaresAround(from, n, mean) / <f32>n + eps);
    store<f32>(at(means, row), mean);
    store<f32>(at(rstds, row), rstd);
    let i = 0;
    for (; i + 4 <= n; i += 4) {
      const unit = f32x4.mul(f32x4.sub(v128.load(at(from, i)), splat(mean)), splat(rstd));
      const scaled = f32x4.mul(unit, v128.load(at(gain, i)));
      v128.store(at(to, i), bias ? f32x4.add(scaled, v128.load(at(bias, i))) : scaled);
    }
    for (; i < n; i++) {
      const scaled = (load<f32>(at(from, i)) - mean) * rstd * load<f32>(at(gain, i));
      store<f32>(at(to, i), bias ? scaled + load<f32>(at(bias, i)) : scaled);
    }
  }
}

function sumOf(x: usize, n: i32): f32 {
  let sum = splat(0);
  let i = 0;
  for (; i + 4 <= n; i += 4) sum = f32x4.add(sum, v128.load(at(x, i)));
  let total = laneSum(sum);
  for (; i < n; i++) total += load<f32>(at(x, i));
  return total;
}

function squaresAround(x: usize, n: i32, mean: f32): f32 {
  let sum = splat(0);
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    const d = f32x4.sub(v128.load(at(x, i)), splat(mean));
    sum = madd(d, d, sum);
  }
  let total = laneSum(sum);
  for (; i < n; i++) {
    const d = load<f32>(at(x, i)) - mean;
    total += d * d;
  }
  return total;
}

/** Rows of one item: a fixed number, so that the sums over rows do not depend on who adds them. */
const ROWS: i32 = 64;

export function normGradRows(): i32 {
  return ROWS;
}

/**
 * With g = dy·gain and u = (x − mean)·rstd:  dx = rstd·(g − mean(g) − u·mean(g·u)), RMS without mean(g);
 * item i leaves its rows' Σ dy·u and Σ dy at partial + 8·n·i, for the gradients of gain and bias.
 */
export function normGrad(
  begin: i32,
  end: i32,
  centred: i32,
  dy: usize,
  x: usize,
  gain: usize,
  means: usize,
  rstds: usize,
  dx: usize,
  partial: usize,
  rows: i32,
  n: i32,
): void {
  for (let item = begin; item < end; item++) {
    const dGain = at(partial, 2 * item * n);
    const dBias = at(dGain, n);
    memory.fill(dGain, 0, (<usize>n) << 3);
    const stop = min(rows, (item + 1) * ROWS);
    for (let row = item * ROWS; row < stop; row++) {
      const offset = (<usize>row * <usize>n) << 2;
      gradRow(
        centred,
        dy + offset,
        x + offset,
        gain,
        load<f32>(at(means, row)),
        load<f32>(at(rstds, row)),
        dx + offset,
        dGain,
        dBias,
        n,
      );
    }
  }
}

@inline
function gradRow(
  centred: i32,
  dy: usize,
  x: usize,
  gain: usize,
  mean: f32,
  rstd: f32,
  dx: usize,
  dGain: usize,
  dBias: usize,
  n: i32,
): void {
  const m = splat(mean);
  const r = splat(rstd);
  let sumG = splat(0);
  let sumGU = splat(0);
  let i = 0;
  for (; i + 4 <= n; i += 4) {
    const d = v128.load(at(dy, i));
    const u = f32x4.mul(f32x4.sub(v128.load(at(x, i)), m), r);
    const g = f32x4.mul(d, v128.load(at(gain, i)));
    v128.store(at(dGain, i), madd(d, u, v128.load(at(dGain, i))));
    v128.store(at(dBias, i), f32x4.add(d, v128.load(at(dBias, i))));
    sumG = f32x4.add(sumG, g);
    sumGU = madd(g, u, sumGU);
  }
  let totalG = laneSum(sumG);
  let totalGU = laneSum(sumGU);
  const rest = i;
  for (; i < n; i++) {
    const d = load<f32>(at(dy, i));
    const u = (load<f32>(at(x, i)) - mean) * rstd;
    const g = d * load<f32>(at(gain, i));
    store<f32>(at(dGain, i), load<f32>(at(dGain, i)) + d * u);
    store<f32>(at(dBias, i), load<f32>(at(dBias, i)) + d);
    totalG += g;
    totalGU += g * u;
  }
  const meanG: f32 = centred ? totalG / <f32>n : 0;
  const meanGU: f32 = totalGU / <f32>n;
  for (i = 0; i < rest; i += 4) {
    const u = f32x4.mul(f32x4.sub(v128.load(at(x, i)), m), r);
    const g = f32x4.mul(v128.load(at(dy, i)), v128.load(at(gain, i)));
    v128.store(at(dx, i), f32x4.mul(r, f32x4.sub(f32x4.sub(g, splat(meanG)), f32x4.mul(u, splat(meanGU)))));
  }
  for (; i < n; i++) {
    const u = (load<f32>(at(x, i)) - mean) * rstd;
    const g = load<f32>(at(dy, i)) * load<f32>(at(gain, i));
    store<f32>(at(dx, i), rstd * (g - meanG - u * meanGU));
  }
}
