/** Numbers as people read them in a figure, and the ranges they span. */

const units = [
  { size: 1e12, name: 'T' },
  { size: 1e9, name: 'B' },
  { size: 1e6, name: 'M' },
] as const;

/** `digits` significant digits; thousands grouped, millions as M, B, T, extremes as powers of ten. The minus sign is U+2212. */
export function formatNumber(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : value < 0 ? '−∞' : 'undefined';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 1e-4 || size >= 1e15) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e') as [string, string];
    const head = trimZeros(mantissa);
    return signed(`${head === '1' ? '' : `${head}×`}10${superscript(Number(exponent))}`);
  }
  const unit = units.find((u) => Number(size.toPrecision(digits)) >= u.size);
  if (unit) return signed(decimal(Number((value / unit.size).toPrecision(digits))) + unit.name);
  const rounded = Number(value.toPrecision(digits));
  return signed(group(decimal(rounded)));
}

/** One format for all ticks of a linear axis: the same unit and the same number of decimals, no two labels alike. */
export function tickFormat(ticks: readonly number[]): (value: number) => string {
  const largest = Math.max(...ticks.map(Math.abs));
  if (largest > 0 && (largest < 1e-3 || largest >= 1e15)) return (value) => formatNumber(value, 4);
  const unit = units.find((u) => largest >= u.size) ?? { size: 1, name: '' };
  const step = Math.min(...ticks.slice(1).map((t, i) => Math.abs(t - ticks[i]!)), largest) / unit.size;
  const fits = (decimals: number) =>
    ticks.every((t) => Math.abs(Number((t / unit.size).toFixed(decimals)) - t / unit.size) <= 1e-4 * step);
  let decimals = 0;
  while (decimals < 12 && !fits(decimals)) decimals++;
  return (value) => {
    const text = (value / unit.size).toFixed(decimals);
    return Number(text) === 0 ? '0' : signed(group(text) + unit.name);
  };
}

/** Least and greatest finite value; undefined where there is none. (Not Math.min(...): arguments are limited.) */
export function extent(values: Iterable<number>): [number, number] | undefined {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : undefined;
}

/** Ticks at whole numbers of a 1-2-5 step, `count` at most, from `first` to `last` inclusive. */
export function integerTicks(first: number, last: number, count: number): number[] {
  const rough = Math.max(1, (last - first) / Math.max(1, count));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const ticks: number[] = [];
  for (let tick = Math.ceil(first / step) * step; tick <= last; tick += step) ticks.push(tick === 0 ? 0 : tick);
  return ticks;
}

const trimZeros = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
const signed = (text: string) => text.replace(/^-/, '−');
const group = (text: string) => text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
const superscript = (n: number) => [...String(n)].map((c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)])).join('');
/** All digits of a rounded number, never in exponent notation. */
const decimal = (value: number) => trimZeros(value.toFixed(12));
