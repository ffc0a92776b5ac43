/** Slopes, and biases made of them: pure functions of numbers. */
import { HIDDEN, PosencError } from '@posenc/core';

/** Rule for the slopes, or a number for each head. */
export type AlibiSlopes = 'press' | 'geometric' | readonly number[];
/** How a bidirectional stack treats its two directions. */
export type AlibiDirections = 'symmetric' | 'asymmetric' | 'halfSlope';

/**
 * The slope m_h of every head, float64. Throws PosencError when `numHeads` is not a positive integer or the listed slopes are
 * not one per head.
 */
export function alibiSlopes(
  numHeads: number,
  { slopes = 'press', maxBias = 8 }: { slopes?: AlibiSlopes; maxBias?: number } = {},
): Float64Array {
  if (!Number.isInteger(numHeads) || numHeads < 1)
    throw new PosencError(`alibi: numHeads is ${numHeads}; it must be a positive integer`);
  if (typeof slopes !== 'string') {
    if (slopes.length !== numHeads)
      throw new PosencError(
        `alibi: slopes lists ${slopes.length} numbers for ${numHeads} heads; give one per head, or "press" or "geometric"`,
      );
    return Float64Array.from(slopes);
  }
  const geometric = (n: number) => Float64Array.from({ length: n }, (_, h) => 2 ** ((-maxBias * (h + 1)) / n));
  const below = 2 ** (31 - Math.clz32(numHeads)); // the largest power of two up to numHeads
  if (slopes === 'geometric' || below === numHeads) return geometric(numHeads);
  const between = geometric(2 * below).filter((_, h) => h % 2 === 0);
  return Float64Array.from([...geometric(below), ...between.slice(0, numHeads - below)]);
}

/** Heads that look left where `asymmetric` divides them: the first half, rounded up. */
const leftHeads = (numHeads: number): number => Math.ceil(numHeads / 2);

/** Slopes of a stack whose heads look one way each: those for half the heads, twice (the authors’ suggestion). */
export function oneSidedSlopes(numHeads: number, options: { slopes?: AlibiSlopes; maxBias?: number }): Float64Array {
  if (typeof options.slopes === 'object' || numHeads < 2) return alibiSlopes(numHeads, options);
  const left = leftHeads(numHeads);
  return Float64Array.from([...alibiSlopes(left, options), ...alibiSlopes(numHeads - left, options)]);
}

/**
 * The distance that a head’s slope is multiplied by at an offset (key − query), in tokens; undefined where the head does not look.
 *
 *     symmetric |o|        halfSlope |o| − ½ before the query, |o| from it on        asymmetric |o| on the head’s own side
 */
export function alibiDistance(
  offset: number,
  head: number,
  numHeads: number,
  directions: AlibiDirections,
): number | undefined {
  const distance = Math.abs(offset);
  if (directions === 'halfSlope' && offset < 0) return distance - 0.5;
  if (directions === 'asymmetric' && offset !== 0 && offset < 0 !== head < leftHeads(numHeads)) return undefined;
  return distance;
}

/**
 * −m_h · distance for every slope and offset (key − query, in tokens), row-major [slopes, offsets], float64; very negative (core’s
 * HIDDEN) where a head of an asymmetric stack does not look.
 */
export function alibiBias(
  slopes: ArrayLike<number>,
  offsets: ArrayLike<number>,
  directions: AlibiDirections = 'symmetric',
): Float64Array {
  const n = offsets.length;
  return Float64Array.from({ length: slopes.length * n }, (_, i) => {
    const head = Math.floor(i / n);
    const distance = alibiDistance(offsets[i % n]!, head, slopes.length, directions);
    return distance === undefined ? HIDDEN : -slopes[head]! * distance;
  });
}

/** The nearest bfloat16, ties to even. */
export function toBfloat16(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
}

/** Falcon’s number for a key at a position: slope, position and product each rounded to bfloat16. */
export const roundedBias = (slope: number, position: number): number =>
  toBfloat16(toBfloat16(slope) * toBfloat16(position));
