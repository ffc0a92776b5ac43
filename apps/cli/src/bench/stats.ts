/** Summaries of repeated measurements. */

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly n: number;
}

/** Median and the whole range: of few measurements nothing finer is known. */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new RangeError('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, min: sorted[0]!, max: sorted.at(-1)!, n: sorted.length };
}

/** Round by round: what both met in the same round, a busy machine say, cancels. */
export const ratios = (values: readonly number[], of: readonly number[]): Summary =>
  summarize(values.map((value, i) => value / of[i]!));
