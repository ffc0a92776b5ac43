/** Inverted dropout (Srivastava et al. 2014) by a mask that is a hash of a key and an entry's number. */
import { splat } from './simd';

/** Items are groups of four. `threshold`: rate·2³². */
export function dropout(
  begin: i32,
  end: i32,
  x: usize,
  y: usize,
  keyLow: i32,
  keyHigh: i32,
  threshold: u32,
  factor: f32,
): void {
  for (let item = begin; item < end; item++) {
    const i = (<usize>item) << 4;
    const kept = keepFactors(item << 2, keyLow, keyHigh, threshold, factor);
    v128.store(y + i, f32x4.mul(v128.load(x + i), kept));
  }
}

/** 0 where entry first … first + 3 is dropped, else `factor`. */
@inline
export function keepFactors(first: i32, keyLow: i32, keyHigh: i32, threshold: u32, factor: f32): v128 {
  const counter = i32x4.add(i32x4.splat(first + keyLow), i32x4(0, 1, 2, 3));
  const hash = avalanche4(v128.xor(avalanche4(counter), i32x4.splat(keyHigh)));
  return v128.and(splat(factor), i32x4.ge_u(hash, i32x4.splat(<i32>threshold)));
}

/** MurmurHash3's finaliser. */
@inline
function avalanche4(h: v128): v128 {
  let x = i32x4.mul(v128.xor(h, i32x4.shr_u(h, 16)), i32x4.splat(<i32>0x85ebca6b));
  x = i32x4.mul(v128.xor(x, i32x4.shr_u(x, 13)), i32x4.splat(<i32>0xc2b2ae35));
  return v128.xor(x, i32x4.shr_u(x, 16));
}
