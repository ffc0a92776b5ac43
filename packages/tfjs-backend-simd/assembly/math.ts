/**
 * Elementary functions of four lanes, after Moshier's Cephes library: errors of one or two units in the last place.
 * NaN stays NaN; beyond their range they give 0, infinity or the limit.
 *
 * Their numbers are read from memory: a constant vector costs V8 three instructions wherever it is used, a load one.
 */
import { madd, splat } from './simd';

/** Number i of a table, in all lanes. */
@inline
function nth(table: usize, i: i32): v128 {
  return v128.load32_splat(table + ((<usize>i) << 2));
}

/** log₂e; 1.5·2²³, which rounds to a whole number that then stands in the low bits; −ln 2 in two parts; bounds. */
const EXP = memory.data<f32>([1.44269504, 12582912, -0.693359375, 2.1219444e-4, 89, -104, -87]);
/** (e^r − 1 − r)/r² around 0, from the highest power; 1. */
const EXP_POWERS = memory.data<f32>([
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1,
]);
/** The bits of 1.5·2²³, the bias of exponents, and the bits of 1. */
const EXP_BITS = memory.data<i32>([0x4b400000, 127, 0x3f800000]);

/** e^x */
@inline
export function exp4(x: v128): v128 {
  // Not f32x4.min and max, which take eight instructions: these keep a NaN that comes first.
  const clamped = v128.pmax<f32>(v128.pmin<f32>(x, nth(EXP, 4)), nth(EXP, 5));
  const shifted = madd(clamped, nth(EXP, 0), nth(EXP, 1));
  const p = expOfRest(clamped, shifted);
  // 2^n in two factors, so that results near both ends of the range come out right.
  const whole = i32x4.sub(shifted, nth(EXP_BITS, 0));
  const half = i32x4.shr_s(whole, 1);
  const bias = nth(EXP_BITS, 1);
  const first = i32x4.shl(i32x4.add(half, bias), 23);
  const second = i32x4.shl(i32x4.add(i32x4.sub(whole, half), bias), 23);
  return f32x4.mul(f32x4.mul(p, first), second);
}

/** e^x where x is at most a little above 0, as in a softmax; 0 below −87. */
@inline
export function expBelow4(x: v128): v128 {
  const clamped = v128.pmax<f32>(x, nth(EXP, 6));
  const shifted = madd(clamped, nth(EXP, 0), nth(EXP, 1));
  // Its low bits, n, as an exponent. Multiplied, not added to the other: whatever the bits of a NaN, it stays one.
  const power = i32x4.add(i32x4.shl(shifted, 23), nth(EXP_BITS, 2));
  const value = f32x4.mul(expOfRest(clamped, shifted), power);
  return v128.andnot(value, f32x4.lt(x, nth(EXP, 6)));
}

/** e^(x − n·ln 2), n the whole number in `shifted`. */
@inline
function expOfRest(x: v128, shifted: v128): v128 {
  const n = f32x4.sub(shifted, nth(EXP, 1));
  const r = madd(n, nth(EXP, 3), madd(n, nth(EXP, 2), x));
  let p = nth(EXP_POWERS, 0);
  p = madd(p, r, nth(EXP_POWERS, 1));
  p = madd(p, r, nth(EXP_POWERS, 2));
  p = madd(p, r, nth(EXP_POWERS, 3));
  p = madd(p, r, nth(EXP_POWERS, 4));
  p = madd(p, r, nth(EXP_POWERS, 5));
  return f32x4.add(madd(p, f32x4.mul(r, r), r), nth(EXP_POWERS, 6));
}

/** 2²⁵ and its logarithm to base 2, the smallest normal number, √½, 1, ln 2 in two parts, −½. */
const LOG = memory.data<f32>([33554432, 25, 1.17549435e-38, 0.707106781, 1, -2.1219444e-4, 0.693359375, -0.5]);
/** (log(1 + m) − m + m²/2)/m³ around 0, from the highest power. */
const LOG_POWERS = memory.data<f32>([
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
]);
/** The bias of exponents less 1, the mantissa's bits, the bits of ½; those of −∞, ∞ and NaN. */
const LOG_BITS = memory.data<i32>([126, 0x007fffff, 0x3f000000, 0xff800000, 0x7f800000, 0x7fc00000]);

/** Natural logarithm; NaN below 0, −∞ at 0. */
@inline
export function log4(x: v128): v128 {
  const tiny = f32x4.lt(x, nth(LOG, 2));
  const y = v128.bitselect(f32x4.mul(x, nth(LOG, 0)), x, tiny);
  let e = i32x4.sub(i32x4.shr_s(y, 23), nth(LOG_BITS, 0));
  let m = v128.or(v128.and(y, nth(LOG_BITS, 1)), nth(LOG_BITS, 2));
  const low = f32x4.lt(m, nth(LOG, 3));
  e = i32x4.add(e, low);
  let exponent = f32x4.convert_i32x4_s(e);
  exponent = f32x4.sub(exponent, v128.and(nth(LOG, 1), tiny));
  m = f32x4.sub(f32x4.add(m, v128.and(m, low)), nth(LOG, 4));
  const square = f32x4.mul(m, m);
  let p = nth(LOG_POWERS, 0);
  p = madd(p, m, nth(LOG_POWERS, 1));
  p = madd(p, m, nth(LOG_POWERS, 2));
  p = madd(p, m, nth(LOG_POWERS, 3));
  p = madd(p, m, nth(LOG_POWERS, 4));
  p = madd(p, m, nth(LOG_POWERS, 5));
  p = madd(p, m, nth(LOG_POWERS, 6));
  p = madd(p, m, nth(LOG_POWERS, 7));
  p = madd(p, m, nth(LOG_POWERS, 8));
  p = f32x4.mul(f32x4.mul(p, m), square);
  p = madd(exponent, nth(LOG, 5), p);
  p = madd(square, nth(LOG, 7), p);
  p = madd(exponent, nth(LOG, 6), f32x4.add(m, p));
  p = v128.bitselect(nth(LOG_BITS, 3), p, f32x4.eq(x, splat(0)));
  p = v128.bitselect(x, p, f32x4.eq(x, nth(LOG_BITS, 4)));
  return v128.bitselect(nth(LOG_BITS, 5), p, v128.or(f32x4.lt(x, splat(0)), f32x4.ne(x, x)));
}

/** log(1 + x), exact where 1 + x loses most of x (Kahan): log(u)·x/(u − 1), u the rounded 1 + x. */
@inline
export function log1p4(x: v128): v128 {
  const one = nth(LOG, 4);
  const u = f32x4.add(x, one);
  const value = f32x4.mul(log4(u), f32x4.div(x, f32x4.sub(u, one)));
  return v128.bitselect(x, value, v128.or(f32x4.eq(u, one), f32x4.eq(x, nth(LOG_BITS, 4))));
}

/** 1/(1 + e^−x) */
@inline
export function sigmoid4(x: v128): v128 {
  const one = nth(EXP_POWERS, 6);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}

/** (tanh x − x)/x³ around 0, from the highest power; where it ends; 1, 2. */
const TANH = memory.data<f32>([
  -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1, 0.625, 1, 2,
]);

/** A polynomial near 0, where 1 − 2/(e^2x + 1) cancels. */
@inline
export function tanh4(x: v128): v128 {
  const square = f32x4.mul(x, x);
  let p = nth(TANH, 0);
  p = madd(p, square, nth(TANH, 1));
  p = madd(p, square, nth(TANH, 2));
  p = madd(p, square, nth(TANH, 3));
  p = madd(p, square, nth(TANH, 4));
  const near = madd(f32x4.mul(p, square), x, x);
  const one = nth(TANH, 6);
  const far = f32x4.sub(one, f32x4.div(nth(TANH, 7), f32x4.add(exp4(f32x4.add(x, x)), one)));
  return v128.bitselect(near, far, f32x4.lt(f32x4.abs(x), nth(TANH, 5)));
}

/** The formula's p, 1, its coefficients from the highest power; −0. */
const ERF = memory.data<f32>([0.3275911, 1, 1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, -0.0]);

/** Error function, within 2e-7 (Abramowitz & Stegun 7.1.26): the formula that TensorFlow.js uses. */
@inline
export function erf4(x: v128): v128 {
  const u = f32x4.abs(x);
  const one = nth(ERF, 1);
  const t = f32x4.div(one, madd(nth(ERF, 0), u, one));
  let p = nth(ERF, 2);
  p = madd(p, t, nth(ERF, 3));
  p = madd(p, t, nth(ERF, 4));
  p = madd(p, t, nth(ERF, 5));
  p = madd(p, t, nth(ERF, 6));
  const value = f32x4.sub(one, f32x4.mul(f32x4.mul(p, t), exp4(f32x4.neg(f32x4.mul(u, u)))));
  return v128.or(value, v128.and(x, nth(ERF, 7)));
}

@inline
export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(splat(x)), 0);
}

@inline
export function log1(x: f32): f32 {
  return f32x4.extract_lane(log4(splat(x)), 0);
}
