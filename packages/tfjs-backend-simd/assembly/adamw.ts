/** One step of AdamW (Loshchilov & Hutter 2019) over all parameters in one pass; items are groups of four. */
import { splat } from './simd';

/**
 *     g ← clip·g    m' = β₁m + (1 − β₁)g    v' = β₂v + (1 − β₂)g²
 *     θ' = θ − rate·( m'·unbiasM / (√(v'·unbiasV) + ε) + decay·θ )
 */
export function adamw(
  begin: i32,
  end: i32,
  theta: usize,
  m: usize,
  v: usize,
  g: usize,
  decay: usize,
  thetaOut: usize,
  mOut: usize,
  vOut: usize,
  clip: f32,
  beta1: f32,
  oneMinusBeta1: f32,
  beta2: f32,
  oneMinusBeta2: f32,
  unbiasM: f32,
  unbiasV: f32,
  epsilon: f32,
  rate: f32,
): void {
  for (let item = begin; item < end; item++) {
    const i = (<usize>item) << 4;
    const gradient = f32x4.mul(v128.load(g + i), splat(clip));
    const first = f32x4.add(f32x4.mul(v128.load(m + i), splat(beta1)), f32x4.mul(gradient, splat(oneMinusBeta1)));
    const second = f32x4.add(
      f32x4.mul(v128.load(v + i), splat(beta2)),
      f32x4.mul(f32x4.mul(gradient, gradient), splat(oneMinusBeta2)),
    );
    v128.store(mOut + i, first);
    v128.store(vOut + i, second);
    const direction = f32x4.div(
      f32x4.mul(first, splat(unbiasM)),
      f32x4.add(f32x4.sqrt(f32x4.mul(second, splat(unbiasV))), splat(epsilon)),
    );
    const value = v128.load(theta + i);
    const change = f32x4.add(direction, f32x4.mul(value, v128.load(decay + i)));
    v128.store(thetaOut + i, f32x4.sub(value, f32x4.mul(change, splat(rate))));
  }
}
