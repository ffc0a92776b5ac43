/** Means, spreads and paired differences over seeds. */

export interface Spread {
  readonly mean: number;
  /** Sample standard deviation; 0 for a single value. */
  readonly sd: number;
  readonly n: number;
}

/** Mean and sample standard deviation (n − 1) of these values; 0 for a single one. */
export function spread(values: readonly number[]): Spread {
  const n = values.length;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const variance = n < 2 ? 0 : values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1);
  return { mean, sd: Math.sqrt(variance), n };
}

/** What a difference between two entries amounts to. */
export type Verdict = 'lower' | 'higher' | 'no clear difference' | 'one seed: no verdict';

/** Mean difference of two entries, seed by seed. */
export interface PairedDifference extends Spread {
  /** Half-width of the 95 % confidence interval of the mean difference (Student's t, n − 1 degrees of freedom). */
  readonly margin: number;
  /** Of the first against the second: clear only when the interval excludes 0. */
  readonly verdict: Verdict;
}

/** Differences seed by seed: what the seeds share (data order, initial weights) cancels. */
export function pairedDifference(ours: readonly number[], theirs: readonly number[]): PairedDifference {
  if (ours.length !== theirs.length)
    throw new RangeError(`${ours.length} values cannot be paired with ${theirs.length}`);
  const differences = spread(ours.map((value, i) => value - theirs[i]!));
  const { mean, sd, n } = differences;
  if (n < 2) return { ...differences, margin: Number.POSITIVE_INFINITY, verdict: 'one seed: no verdict' };
  const margin = (studentT975(n - 1) * sd) / Math.sqrt(n);
  const clear = Math.abs(mean) > margin;
  return { ...differences, margin, verdict: clear ? (mean < 0 ? 'lower' : 'higher') : 'no clear difference' };
}

/** 97.5 % quantile of Student's t (standard table); beyond 30 degrees of freedom the normal's, a little widened. */
function studentT975(degrees: number): number {
  const table = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
    2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
  ];
  return table[degrees - 1] ?? 1.96 + 2.46 / degrees;
}
