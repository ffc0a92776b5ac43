/** Permutations of axes, for elements of four bytes. */
import { transpose4 } from './pack';
import { at } from './simd';

/** Output rows one item turns: a cache line of the input. */
const STRIP: i32 = 16;

export function transposeStrip(): i32 {
  return STRIP;
}

/**
 * x → y [·, d1, d2] of matrices turned over: y rows are indexed by the axis j (x: neighbours; y: outJ floats apart), y
 * columns by the axis l (x: inL floats apart; y: neighbours). An item is a strip of 16 values of j.
 */
export function transposeTurn(
  begin: i32,
  end: i32,
  x: usize,
  y: usize,
  d1: i32,
  d2: i32,
  in0: i32,
  in1: i32,
  in2: i32,
  out0: i32,
  out1: i32,
  out2: i32,
  J: i32,
  outJ: i32,
  L: i32,
  inL: i32,
): void {
  const strips = (J + STRIP - 1) / STRIP;
  for (let item = begin; item < end; item++) {
    const batch = item / strips;
    const first = (item % strips) * STRIP;
    const i2 = batch % d2;
    const i1 = (batch / d2) % d1;
    const i0 = batch / (d1 * d2);
    const from = at(x, i0 * in0 + i1 * in1 + i2 * in2 + first);
    const to = at(y, i0 * out0 + i1 * out1 + i2 * out2 + first * outJ);
    const count = min(STRIP, J - first);
    const step = (<usize>outJ) << 2;
    let l = 0;
    for (; l + 4 <= L; l += 4) {
      let j = 0;
      for (; j + 4 <= count; j += 4) transpose4(at(to, j * outJ + l), at(from, l * inL + j), inL, step);
      for (; j < count; j++) {
        for (let m = l; m < l + 4; m++) store<f32>(at(to, j * outJ + m), load<f32>(at(from, m * inL + j)));
      }
    }
    for (; l < L; l++) {
      for (let j = 0; j < count; j++) store<f32>(at(to, j * outJ + l), load<f32>(at(from, l * inL + j)));
    }
  }
}

/** Rows [begin, end) of y [·, d1, d2, n] whose elements are neighbours in x too. */
export function transposeRows(
  begin: i32,
  end: i32,
  x: usize,
  y: usize,
  d1: i32,
  d2: i32,
  n: i32,
  in0: i32,
  in1: i32,
  in2: i32,
): void {
  for (let row = begin; row < end; row++) {
    const i2 = row % d2;
    const i1 = (row / d2) % d1;
    const i0 = row / (d1 * d2);
    let from = at(x, i0 * in0 + i1 * in1 + i2 * in2);
    let to = at(y, row * n);
    const stop = to + ((<usize>n) << 2);
    for (; to + 16 <= stop; to += 16) {
      v128.store(to, v128.load(from));
      from += 16;
    }
    for (; to < stop; to += 4) {
      store<f32>(to, load<f32>(from));
      from += 4;
    }
  }
}
