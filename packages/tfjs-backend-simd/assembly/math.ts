/**
 * Elementary functions of four lanes, after Moshier's Cephes library: errors of one or two units in the last place.
 * NaN stays NaN; beyond their range they give 0, infinity or the limit.
 */
import { madd, splat } from './simd';

/** Adding it rounds to a whole number, which then stands in the low bits. */
const rounder: f32 = 12582912; // 1.5·2²³

/** e^x */
@inline
export function exp4(x: v128): v128 {
  // Not f32x4.min and max, which take eight instructions: these keep a NaN that comes first.
  const clamped = v128.pmax<f32>(v128.pmin<f32>(x, splat(89)), splat(-104));
  const shifted = madd(clamped, splat(1.44269504), splat(rounder));
  const n = f32x4.sub(shifted, splat(rounder));
  let r = madd(n, splat(-0.693359375), clamped);
  r = madd(n, splat(2.12194440e-4), r);
  let p = splat(1.9875691500e-4);
  p = madd(p, r, splat(1.3981999507e-3));
  p = madd(p, r, splat(8.3334519073e-3));
  p = madd(p, r, splat(4.1665795894e-2));
  p = madd(p, r, splat(1.6666665459e-1));
  p = madd(p, r, splat(5.0000001201e-1));
  p = f32x4.add(madd(p, f32x4.mul(r, r), r), splat(1));
  // 2^n in two factors, so that results near both ends of the range come out right.
  const whole = i32x4.sub(shifted, i32x4.splat(0x4b400000));
  const half = i32x4.shr_s(whole, 1);
  const bias = i32x4.splat(127);
  const first = i32x4.shl(i32x4.add(half, bias), 23);
  const second = i32x4.shl(i32x4.add(i32x4.sub(whole, half), bias), 23);
  return f32x4.mul(f32x4.mul(p, first), second);
}

/** Natural logarithm; NaN below 0, −∞ at 0. */
@inline
export function log4(x: v128): v128 {
  const tiny = f32x4.lt(x, splat(1.17549435e-38));
  const y = v128.bitselect(f32x4.mul(x, splat(33554432)), x, tiny);
  let e = i32x4.sub(i32x4.shr_s(y, 23), i32x4.splat(126));
  let m = v128.or(v128.and(y, i32x4.splat(0x007fffff)), i32x4.splat(0x3f000000));
  const low = f32x4.lt(m, splat(0.707106781));
  e = i32x4.add(e, low);
  let exponent = f32x4.convert_i32x4_s(e);
  exponent = f32x4.sub(exponent, v128.and(splat(25), tiny));
  m = f32x4.sub(f32x4.add(m, v128.and(m, low)), splat(1));
  const square = f32x4.mul(m, m);
  let p = splat(7.0376836292e-2);
  p = madd(p, m, splat(-1.1514610310e-1));
  p = madd(p, m, splat(1.1676998740e-1));
  p = madd(p, m, splat(-1.2420140846e-1));
  p = madd(p, m, splat(1.4249322787e-1));
  p = madd(p, m, splat(-1.6668057665e-1));
  p = madd(p, m, splat(2.0000714765e-1));
  p = madd(p, m, splat(-2.4999993993e-1));
  p = madd(p, m, splat(3.3333331174e-1));
  p = f32x4.mul(f32x4.mul(p, m), square);
  p = madd(exponent, splat(-2.12194440e-4), p);
  p = madd(square, splat(-0.5), p);
  p = madd(exponent, splat(0.693359375), f32x4.add(m, p));
  p = v128.bitselect(splat(-Infinity), p, f32x4.eq(x, splat(0)));
  p = v128.bitselect(x, p, f32x4.eq(x, splat(Infinity)));
  return v128.bitselect(splat(NaN), p, v128.or(f32x4.lt(x, splat(0)), f32x4.ne(x, x)));
}

/** log(1 + x), exact where 1 + x loses most of x (Kahan): log(u)·x/(u − 1), u the rounded 1 + x. */
@inline
export function log1p4(x: v128): v128 {
  const u = f32x4.add(x, splat(1));
  const value = f32x4.mul(log4(u), f32x4.div(x, f32x4.sub(u, splat(1))));
  return v128.bitselect(x, value, v128.or(f32x4.eq(u, splat(1)), f32x4.eq(x, splat(Infinity))));
}

/** 1/(1 + e^−x) */
@inline
export function sigmoid4(x: v128): v128 {
  return f32x4.div(splat(1), f32x4.add(splat(1), exp4(f32x4.neg(x))));
}

/** A polynomial near 0, where 1 − 2/(e^2x + 1) cancels. */
@inline
export function tanh4(x: v128): v128 {
  const square = f32x4.mul(x, x);
  let p = splat(-5.70498872745e-3);
  p = madd(p, square, splat(2.06390887954e-2));
  p = madd(p, square, splat(-5.37397155531e-2));
  p = madd(p, square, splat(1.33314422036e-1));
  p = madd(p, square, splat(-3.33332819422e-1));
  const near = madd(f32x4.mul(p, square), x, x);
  const far = f32x4.sub(splat(1), f32x4.div(splat(2), f32x4.add(exp4(f32x4.add(x, x)), splat(1))));
  return v128.bitselect(near, far, f32x4.lt(f32x4.abs(x), splat(0.625)));
}

/** Error function, within 2e-7 (Abramowitz & Stegun 7.1.26): the formula that TensorFlow.js uses. */
@inline
export function erf4(x: v128): v128 {
  const u = f32x4.abs(x);
  const t = f32x4.div(splat(1), madd(splat(0.3275911), u, splat(1)));
  let p = splat(1.061405429);
  p = madd(p, t, splat(-1.453152027));
  p = madd(p, t, splat(1.421413741));
  p = madd(p, t, splat(-0.284496736));
  p = madd(p, t, splat(0.254829592));
  const value = f32x4.sub(splat(1), f32x4.mul(f32x4.mul(p, t), exp4(f32x4.neg(f32x4.mul(u, u)))));
  return v128.or(value, v128.and(x, splat(-0.0)));
}

@inline
export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(splat(x)), 0);
}

@inline
export function log1(x: f32): f32 {
  return f32x4.extract_lane(log4(splat(x)), 0);
}
