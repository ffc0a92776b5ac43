/** Numbers as people read them. */

/** Digits in groups: 1 048 576 → 1,048,576. */
export const grouped = (n: number): string => (Number.isFinite(n) ? n.toLocaleString('en-US') : '∞');

/** About `digits` significant digits, never more characters than they deserve: 0.000104, 6.28, 1.2e+7. */
export function short(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  return String(Number(value.toPrecision(digits))).replace('-', '−');
}

/** `count` indices spread over 0 … n − 1, both ends among them; all of them when there are fewer. */
export function spread(n: number, count: number): number[] {
  if (n <= count) return Array.from({ length: n }, (_, i) => i);
  return [...new Set(Array.from({ length: count }, (_, i) => Math.round((i * (n - 1)) / (count - 1))))];
}

/** [0, 1, 2, 5] → "0–2, 5". */
export function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const n of numbers) {
    const last = runs.at(-1);
    if (last && n === last[1] + 1) last[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([a, b]) => (a === b ? `${a}` : `${a}–${b}`)).join(', ');
}
