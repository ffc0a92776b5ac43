/** Channel pairs turned by angles: x' = x·cos − y·sin, y' = y·cos + x·sin (Su et al. 2021). */
import { at, madd, splat } from './simd';

/**
 * Rows [begin, end) of u [B·heads·T, width]; the first 2·pairs channels turn. cos, sin [B|1, T, pairs]: `tableStride` floats from one
 * row of the batch to the next, or 0. A layout is 1 where the members of a pair are neighbours, 0 where they are halves. `sign`: of sin.
 */
export function rotatePairs(
  begin: i32,
  end: i32,
  u: usize,
  cos: usize,
  sin: usize,
  y: usize,
  numHeads: i32,
  length: i32,
  width: i32,
  pairs: i32,
  tableStride: i32,
  from: i32,
  to: i32,
  sign: f32,
): void {
  for (let row = begin; row < end; row++) {
    const offset = (<usize>row * <usize>width) << 2;
    const table = (row / (numHeads * length)) * tableStride + (row % length) * pairs;
    const c = at(cos, table);
    const s = at(sin, table);
    if (from && to) turn(u + offset, c, s, y + offset, pairs, 1, 1, sign);
    else if (from) turn(u + offset, c, s, y + offset, pairs, 1, 0, sign);
    else if (to) turn(u + offset, c, s, y + offset, pairs, 0, 1, sign);
    else turn(u + offset, c, s, y + offset, pairs, 0, 0, sign);
    let i = 2 * pairs;
    for (; i + 4 <= width; i += 4) v128.store(at(y + offset, i), v128.load(at(u + offset, i)));
    for (; i < width; i++) store<f32>(at(y + offset, i), load<f32>(at(u + offset, i)));
  }
}

@inline
function turn(u: usize, cos: usize, sin: usize, y: usize, pairs: i32, from: i32, to: i32, sign: f32): void {
  let k = 0;
  for (; k + 4 <= pairs; k += 4) {
    const low = v128.load(at(u, from ? 2 * k : k));
    const high = v128.load(at(u, from ? 2 * k + 4 : pairs + k));
    const first = from ? v128.shuffle<f32>(low, high, 0, 2, 4, 6) : low;
    const second = from ? v128.shuffle<f32>(low, high, 1, 3, 5, 7) : high;
    const c = v128.load(at(cos, k));
    const s = f32x4.mul(v128.load(at(sin, k)), splat(sign));
    const a = madd(first, c, f32x4.neg(f32x4.mul(second, s)));
    const b = madd(second, c, f32x4.mul(first, s));
    v128.store(at(y, to ? 2 * k : k), to ? v128.shuffle<f32>(a, b, 0, 4, 1, 5) : a);
    v128.store(at(y, to ? 2 * k + 4 : pairs + k), to ? v128.shuffle<f32>(a, b, 2, 6, 3, 7) : b);
  }
  for (; k < pairs; k++) {
    const first = load<f32>(at(u, from ? 2 * k : k));
    const second = load<f32>(at(u, from ? 2 * k + 1 : pairs + k));
    const c = load<f32>(at(cos, k));
    const s = sign * load<f32>(at(sin, k));
    store<f32>(at(y, to ? 2 * k : k), first * c - second * s);
    store<f32>(at(y, to ? 2 * k + 1 : pairs + k), second * c + first * s);
  }
}
