/**
 * T5's buckets of distance. With rel = key − query, per direction nb = numBuckets / 2 buckets when bidirectional (the upper half
 * for keys after the query), else nb = numBuckets (a key after the query counts as distance 0); me = ⌊nb/2⌋; n the distance:
 *
 *     n < me:  bucket n                 else:  me + ⌊(nb − me) · ln(n/me) / ln(maxDistance/me)⌋, at most nb − 1
 *
 * No logarithm is taken here. Rounded ones put distances that fall exactly on a boundary, 64 with the paper's 32 buckets for one,
 * in a bucket too low when the operations are written in another order, or on a device that approximates. The boundary of
 * bucket me + k is the smallest n with n^K ≥ me^(K−k) · maxDistance^k, K = nb − me: a comparison of integers.
 */
import { PosencError } from '@posenc/core';

/** How offsets share the rows of the table. */
export interface T5BucketOptions {
  /** Rows of the table: 32 in T5. */
  readonly numBuckets: number;
  /** Distance, in tokens, from which all share the last bucket: 128 in T5. */
  readonly maxDistance: number;
  /** Tell keys after the query from keys before it: encoders. */
  readonly bidirectional: boolean;
}

/**
 * The smallest distance of each bucket of one direction, ascending (two are equal where a bucket is empty).
 * Throws PosencError when the numbers leave a direction without a bucket of its own or without a logarithmic range.
 */
export function t5BucketThresholds({ numBuckets, maxDistance, bidirectional }: T5BucketOptions): Int32Array {
  const stack = bidirectional ? 'a bidirectional stack' : 'a causal stack';
  const [least, step] = bidirectional ? [4, 2] : [2, 1];
  if (!Number.isInteger(numBuckets) || numBuckets < least || numBuckets % step !== 0)
    throw new PosencError(
      `t5: numBuckets is ${numBuckets}; ${stack} needs ${bidirectional ? 'an even number, half for each direction,' : 'an integer'} of at least ${least}`,
    );
  const buckets = numBuckets / step;
  const exact = Math.floor(buckets / 2);
  if (!Number.isInteger(maxDistance) || maxDistance <= exact)
    throw new PosencError(
      `t5: maxDistance is ${maxDistance}; with ${numBuckets} buckets in ${stack} it must be an integer above ${exact}, ` +
        `because distances below ${exact} have a bucket each and the logarithmic ones lie between`,
    );
  const steps = buckets - exact;
  return Int32Array.from({ length: buckets }, (_, bucket) =>
    bucket < exact ? bucket : boundary(exact, maxDistance, bucket - exact, steps),
  );
}

/** The smallest n with n^K ≥ low^(K−k) · high^k. */
function boundary(low: number, high: number, k: number, K: number): number {
  const target = BigInt(low) ** BigInt(K - k) * BigInt(high) ** BigInt(k);
  const reaches = (n: number) => BigInt(n) ** BigInt(K) >= target;
  let n = Math.round(low * (high / low) ** (k / K)); // float64 is near enough to start from, and no more is asked of it
  while (reaches(n - 1)) n--;
  while (!reaches(n)) n++;
  return n;
}

/** The bucket of one relative position key − query. Throws as `t5BucketThresholds` does. */
export function t5Bucket(relative: number, options: T5BucketOptions): number {
  return t5Buckets([relative], options)[0]!;
}

/** The bucket of each relative position key − query. Throws as `t5BucketThresholds` does. */
export function t5Buckets(relative: ArrayLike<number>, options: T5BucketOptions): Int32Array {
  return bucketsOf(relative, t5BucketThresholds(options), options.bidirectional);
}

/** The same from thresholds at hand: the last bucket whose threshold the distance reaches. */
export function bucketsOf(relative: ArrayLike<number>, thresholds: Int32Array, bidirectional: boolean): Int32Array {
  return Int32Array.from(relative, (rel) => {
    const distance = bidirectional ? Math.abs(rel) : Math.max(-rel, 0);
    let [low, high] = [0, thresholds.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (thresholds[middle]! <= distance) low = middle;
      else high = middle;
    }
    return bidirectional && rel > 0 ? low + thresholds.length : low;
  });
}
