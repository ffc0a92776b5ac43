/** −log softmax(x)[label] along rows [·, n], and its gradient. A label below 0 is not scored: 0 and 0. */
import { exp1, expBelow4, log1 } from './math';
import { rowPeak } from './reduce';
import { at, splat } from './simd';
import { expSum } from './softmax';

/** Keeps log Σ e^x of each row for the gradient. */
export function crossEntropy(begin: i32, end: i32, x: usize, labels: usize, loss: usize, logSums: usize, n: i32): void {
  for (let row = begin; row < end; row++) {
    const from = x + ((<usize>row * <usize>n) << 2);
    const highest = rowPeak(from, n);
    const logSum = highest + log1(expSum(from, n, highest));
    const label = load<i32>(at(labels, row));
    store<f32>(at(logSums, row), logSum);
    store<f32>(at(loss, row), label < 0 ? 0 : logSum - load<f32>(at(from, label)));
  }
}

/** dx = (softmax(x) − one-hot(label))·dy */
export function crossEntropyGrad(
  begin: i32,
  end: i32,
  dy: usize,
  x: usize,
  labels: usize,
  logSums: usize,
  dx: usize,
  n: i32,
): void {
  for (let row = begin; row < end; row++) {
    const from = x + ((<usize>row * <usize>n) << 2);
    const to = dx + ((<usize>row * <usize>n) << 2);
    const label = load<i32>(at(labels, row));
    if (label < 0) {
      memory.fill(to, 0, (<usize>n) << 2);
      continue;
    }
    const weight = load<f32>(at(dy, row));
    const logSum = load<f32>(at(logSums, row));
    let i = 0;
    for (; i + 4 <= n; i += 4)
      v128.store(at(to, i), f32x4.mul(splat(weight), expBelow4(f32x4.sub(v128.load(at(from, i)), splat(logSum)))));
    for (; i < n; i++) store<f32>(at(to, i), weight * exp1(load<f32>(at(from, i)) - logSum));
    store<f32>(at(to, label), load<f32>(at(to, label)) - weight);
  }
}
