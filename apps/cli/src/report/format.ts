/** Numbers and lists as the report writes them. Every function has a word for what is no number. */
import type { ProblemSizes } from '@posenc/tasks';
import { grouped } from '../ui/numbers.ts';

const noNumber = 'not finite';

/** `decimals` places while they say something: 2.1804, 152.3, 12,345, 3.1e+9. Minus is U+2212. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return noNumber;
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(1).replace('-', '−');
  if (size >= 1000) return minus(grouped(Math.round(value)));
  const text = value.toFixed(size >= 100 ? Math.min(decimals, 1) : decimals);
  return minus(Number(text) === 0 ? text.replace('-', '') : text);
}

/** With its sign, also when positive. */
export const signed = (value: number, decimals: number): string =>
  value > 0 ? `+${fixed(value, decimals)}` : fixed(value, decimals);

export const percent = (share: number): string => (Number.isFinite(share) ? `${fixed(100 * share, 1)} %` : noNumber);

export const count = (n: number, noun: string, plural = `${noun}s`): string =>
  `${grouped(n)} ${n === 1 ? noun : plural}`;

/** 1,234 · 107 thousand · 3.2 million, for running text. */
export function rough(n: number): string {
  if (!Number.isFinite(n)) return noNumber;
  if (n < 10_000) return grouped(n);
  if (n < 1e6) return `${Math.round(n / 1000)} thousand`;
  return n < 1e9 ? `${fixed(n / 1e6, 1)} million` : `${fixed(n / 1e9, 1)} billion`;
}

/** 1,234 · 107k · 3.2M, where room is short. */
export const compact = (n: number): string =>
  rough(n).replace(' thousand', 'k').replace(' million', 'M').replace(' billion', 'B');

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return noNumber;
  if (seconds < 1) return `${fixed(1000 * seconds, 0)} ms`;
  if (seconds < 100) return `${fixed(seconds, 1)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "up to 3 digits" · "4–6 digits" */
export const sizesText = ({ low, high, unit }: ProblemSizes): string =>
  low === 1 ? `up to ${high} ${unit}` : `${low === high ? low : `${low}–${high}`} ${unit}`;

/** "A, B and C"; beyond `most` items "A, B and 7 more". Items with commas of their own are parted by semicolons. */
export function listed(items: readonly string[], most = 6): string {
  const shown = items.length > most ? [...items.slice(0, most - 1), `${items.length - most + 1} more`] : items;
  if (shown.length < 2) return shown.join('');
  const semicolons = shown.some((item) => item.includes(','));
  return `${shown.slice(0, -1).join(semicolons ? '; ' : ', ')}${semicolons ? '; and' : ' and'} ${shown.at(-1)}`;
}

const minus = (text: string) => text.replace(/^-/, '−');
