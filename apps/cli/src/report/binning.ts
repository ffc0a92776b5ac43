/** From many measured points to as many as a picture needs. */
import type { Point } from '@posenc/plots';
import type { LossCurve } from './curves.ts';

/**
 * Means over bins between the positions L · 2^(n/4), at least 4 wide. The training length L is an edge: no bin mixes positions
 * seen in training with others. x: the bin's geometric middle, positions counted from 1. A value that is no number (null in
 * JSON) makes its bin a gap.
 */
export function binned(values: readonly (number | null)[], L: number): Point[] {
  const points: Point[] = [];
  for (let from = 0; from < values.length; ) {
    const border = from < L ? Math.min(L, values.length) : values.length;
    const edge = Math.round(L * 2 ** (Math.ceil(4 * Math.log2((from + 4) / L) - 1e-9) / 4));
    const to = border - edge < 4 ? border : edge;
    const bin = values.slice(from, to);
    const y = bin.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0) / bin.length;
    points.push({ x: Math.round(10 * Math.sqrt((from + 1) * to)) / 10, y });
    from = to;
  }
  return points;
}

/** Means over windows of steps, then over seeds, with the range over seeds; a window with a loss that is no number is a gap. */
export function smoothed(curves: readonly LossCurve[], window: number): Point[] {
  const means = curves.map(({ points }) => {
    const sums = new Map<number, { sum: number; count: number }>();
    for (const { step, loss } of points) {
      const slot = Math.floor((step - 1) / window);
      const { sum, count } = sums.get(slot) ?? { sum: 0, count: 0 };
      sums.set(slot, { sum: sum + (loss ?? Number.NaN), count: count + 1 });
    }
    return new Map([...sums].map(([slot, { sum, count }]) => [slot, sum / count] as const));
  });
  const slots = [...new Set(means.flatMap((m) => [...m.keys()]))].sort((a, b) => a - b);
  return slots.map((slot) => {
    const x = (slot + 0.5) * window + 0.5;
    const values = means.flatMap((m) => m.get(slot) ?? []);
    const y = values.reduce((a, b) => a + b, 0) / values.length;
    return values.length > 1 ? { x, y, low: Math.min(...values), high: Math.max(...values) } : { x, y };
  });
}
