/** GELU (Hendrycks & Gimpel 2016), x·Φ(x), and its tanh approximation; SiLU, x·σ(x); alone or as a gate (Shazeer 2020). Items are groups of four. */
import { erf4, exp4, sigmoid4 } from './math';
import { madd, splat } from './simd';

/** kind 0: exact; 1: tanh; 2: SiLU. */
export function gelu(begin: i32, end: i32, kind: i32, x: usize, y: usize): void {
  for (let item = begin; item < end; item++) {
    const u = v128.load(x + ((<usize>item) << 4));
    v128.store(y + ((<usize>item) << 4), f32x4.mul(u, gate(kind, u)));
  }
}

/** dx = dy·(gate(x) + x·gate′(x)) */
export function geluGrad(begin: i32, end: i32, kind: i32, dy: usize, x: usize, dx: usize): void {
  for (let item = begin; item < end; item++) {
    const i = (<usize>item) << 4;
    const u = v128.load(x + i);
    const g = gate(kind, u);
    const slope = madd(u, gateSlope(kind, u, g), g);
    v128.store(dx + i, f32x4.mul(v128.load(dy + i), slope));
  }
}

/** y = act(gate)·up */
export function gatedActivation(begin: i32, end: i32, kind: i32, gates: usize, up: usize, y: usize): void {
  for (let item = begin; item < end; item++) {
    const i = (<usize>item) << 4;
    const u = v128.load(gates + i);
    v128.store(y + i, f32x4.mul(f32x4.mul(u, gate(kind, u)), v128.load(up + i)));
  }
}

/** dGate = dy·up·act′(gate), dUp = dy·act(gate) */
export function gatedActivationGrad(
  begin: i32,
  end: i32,
  kind: i32,
  dy: usize,
  gates: usize,
  up: usize,
  dGate: usize,
  dUp: usize,
): void {
  for (let item = begin; item < end; item++) {
    const i = (<usize>item) << 4;
    const d = v128.load(dy + i);
    const u = v128.load(gates + i);
    const g = gate(kind, u);
    const slope = madd(u, gateSlope(kind, u, g), g);
    v128.store(dGate + i, f32x4.mul(f32x4.mul(d, v128.load(up + i)), slope));
    v128.store(dUp + i, f32x4.mul(d, f32x4.mul(u, g)));
  }
}

/** Φ(x); σ(2√(2/π)(x + 0.044715x³)), which is ½(1 + tanh …); σ(x). */
@inline
function gate(kind: i32, x: v128): v128 {
  if (kind == 0) return f32x4.mul(splat(0.5), f32x4.add(splat(1), erf4(f32x4.mul(x, splat(0.70710678)))));
  if (kind == 1) return sigmoid4(f32x4.mul(x, madd(f32x4.mul(x, x), splat(0.0713548163), splat(1.59576912))));
  return sigmoid4(x);
}

@inline
function gateSlope(kind: i32, x: v128, g: v128): v128 {
  const square = f32x4.mul(x, x);
  if (kind == 0) return f32x4.mul(splat(0.39894228), exp4(f32x4.mul(square, splat(-0.5))));
  const slope = f32x4.mul(g, f32x4.sub(splat(1), g));
  if (kind == 1) return f32x4.mul(slope, madd(square, splat(0.214064449), splat(1.59576912)));
  return slope;
}
