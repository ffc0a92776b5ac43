/** 16-bit floats widened to float32, which holds every one of them exactly (NaN payloads too). */

/** IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
export function float16ToFloat32(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i]!;
    const sign = (half & 0x8000) << 16;
    const exponent = (half >> 10) & 0x1f;
    let fraction = half & 0x3ff;
    if (exponent === 0x1f) {
      bits[i] = sign | 0x7f800000 | (fraction << 13);
    } else if (exponent > 0) {
      bits[i] = sign | ((exponent + 112) << 23) | (fraction << 13);
    } else if (fraction > 0) {
      // Subnormal: fraction · 2⁻²⁴. Shift its leading bit into the hidden place.
      const shift = Math.clz32(fraction) - 21;
      fraction = (fraction << shift) & 0x3ff;
      bits[i] = sign | ((113 - shift) << 23) | (fraction << 13);
    } else {
      bits[i] = sign;
    }
  }
  return new Float32Array(bits.buffer);
}

/** bfloat16: the upper half of a float32. */
export function bfloat16ToFloat32(halves: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
}
