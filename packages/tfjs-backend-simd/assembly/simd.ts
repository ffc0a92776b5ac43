/** What the kernels share: four lanes at a time, constants, and the one place that knows about relaxed SIMD. */

/** a·b + c: fused where the build has relaxed SIMD and the processor FMA, else two roundings. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

@inline
export function splat(x: f32): v128 {
  return f32x4.splat(x);
}

/** Sum of the four lanes. */
@inline
export function laneSum(x: v128): f32 {
  return (
    f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 2) + (f32x4.extract_lane(x, 1) + f32x4.extract_lane(x, 3))
  );
}

/** Largest of the four lanes, none of them NaN: without the branches of a scalar maximum. */
@inline
export function laneMax(x: v128): f32 {
  const pairs = v128.pmax<f32>(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(v128.pmax<f32>(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 3, 2)), 0);
}

/** Loads `count` (1–3) floats into the first lanes, zeros into the others. */
export function loadPart(address: usize, count: i32): v128 {
  let x = v128.load32_zero(address);
  if (count > 1) x = f32x4.replace_lane(x, 1, load<f32>(address, 4));
  if (count > 2) x = f32x4.replace_lane(x, 2, load<f32>(address, 8));
  return x;
}

/** Stores the first `count` (1–3) lanes. */
export function storePart(address: usize, x: v128, count: i32): void {
  store<f32>(address, f32x4.extract_lane(x, 0));
  if (count > 1) store<f32>(address, f32x4.extract_lane(x, 1), 4);
  if (count > 2) store<f32>(address, f32x4.extract_lane(x, 2), 8);
}

/** The address of float i. */
@inline
export function at(base: usize, i: i32): usize {
  return base + ((<usize>i) << 2);
}

let thread: i32 = 0;

/** Which thread this instance of the module is; 0 is the one that TensorFlow.js runs in. */
export function setThread(index: i32): void {
  thread = index;
}

/** This thread's part of scratch memory that was allocated for all threads. */
@inline
export function threadScratch(base: usize, bytes: i32): usize {
  return base + <usize>thread * <usize>bytes;
}
