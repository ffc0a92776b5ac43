/** A number for every pair of query and key, as a grid: queries downward, keys across. */

/** What the numbers of most grids are. */
export const logits = 'bias (logits)';

/** What `heatmap` needs of n × n numbers, row-major. */
export const pairGrid = (n: number, data: ArrayLike<number>, valueLabel: string) =>
  ({
    x: { label: 'key position' },
    y: { label: 'query position' },
    rows: n,
    cols: n,
    data,
    colorScale: isOneSided(data) ? 'sequential' : 'diverging',
    valueLabel,
  }) as const;

/** Colours for values on one side of zero, or around it. */
function isOneSided(data: ArrayLike<number>): boolean {
  const values = Array.from(data).filter(Number.isFinite);
  return values.every((v) => v <= 0) || values.every((v) => v >= 0);
}

/** The same numbers without those that a causal mask hides, which are drawn grey. */
export const visible = (n: number, data: ArrayLike<number>, causal: boolean): Float64Array =>
  Float64Array.from(data, (value, i) => (causal && i % n > Math.floor(i / n) ? Number.NaN : value));
