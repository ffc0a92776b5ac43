/** C = op(A)·op(B) where A has so few rows (decoding) that packing would cost more than the product. */
import { at, laneSum, madd } from './simd';

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
    let sum = laneSum(s0);
    for (; k < K; k++) sum += load<f32>(at(a, k)) * load<f32>(at(row, k));
    store<f32>(at(out, n), sum);
  }
}
