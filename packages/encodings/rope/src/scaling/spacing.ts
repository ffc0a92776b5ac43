/** RoPE's frequencies before any scaling. */

/** θ_k = base^(−2k/r) for k = 0 … r/2 − 1, in radians per position, float64. `rotaryDim` is r. */
export function inverseFrequencies(base: number, rotaryDim: number): Float64Array {
  return Float64Array.from({ length: rotaryDim / 2 }, (_, k) => base ** ((-2 * k) / rotaryDim));
}
