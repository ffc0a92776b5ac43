/**
 * Which row of the table a relative position reads. With rel = query − key, n = |rel|, middle = ⌊positionBuckets / 2⌋,
 * M = maxRelativePositions − 1:
 *
 *     n ≤ middle:  bucket = rel          else:  bucket = sign(rel) · (middle + ⌈(middle − 1) · ln(n/middle) / ln(M/middle)⌉)
 *     row = bucket + span, cut to 0 … 2·span − 1,       span = positionBuckets, or maxRelativePositions where there are none (v1)
 */

export interface DebertaBucketOptions {
  /** Twice the distances that have a bucket each; null: every distance has (v1). */
  readonly positionBuckets: number | null;
  /** Where the logarithmic buckets end; without buckets, where distances are cut. */
  readonly maxRelativePositions: number;
}

/** Rows of the table on either side of its middle. */
export const debertaSpan = ({ positionBuckets, maxRelativePositions }: DebertaBucketOptions): number =>
  positionBuckets ?? maxRelativePositions;

/** The signed bucket of one relative position query − key, in tokens. Grows beyond the table, slowly, as the distance does. */
export function debertaBucket(
  relative: number,
  { positionBuckets, maxRelativePositions }: DebertaBucketOptions,
): number {
  const distance = Math.abs(relative);
  const middle = Math.floor((positionBuckets ?? Number.POSITIVE_INFINITY) / 2);
  if (distance <= middle) return relative;
  return Math.sign(relative) * (middle + logSteps(distance, middle, maxRelativePositions - 1));
}

/** The row of the table, 0 … 2·span − 1, that one relative position query − key reads. */
export function debertaRow(relative: number, options: DebertaBucketOptions): number {
  const span = debertaSpan(options);
  return Math.min(Math.max(debertaBucket(relative, options) + span, 0), 2 * span - 1);
}

/** ⌈(low − 1) · ln(n/low) / ln(high/low)⌉. Within rounding of an integer k, integers decide: n^K · low^k ≤ high^k · low^K. */
function logSteps(n: number, low: number, high: number): number {
  const K = low - 1;
  const steps = (Math.log(n / low) / Math.log(high / low)) * K;
  const k = Math.round(steps);
  if (Math.abs(steps - k) > 1e-9 * Math.max(1, k)) return Math.ceil(steps);
  const reaches =
    BigInt(n) ** BigInt(K) * BigInt(low) ** BigInt(k) <= BigInt(high) ** BigInt(k) * BigInt(low) ** BigInt(K);
  return reaches ? k : k + 1;
}
