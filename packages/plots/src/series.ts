/** Points of a line: which of them are drawn, and which suffice when there are more than pixels. */
import type { Point } from './data.ts';

export interface DrawnPoint {
  readonly x: number;
  readonly y: number;
  readonly spread?: readonly [low: number, high: number];
}

/** The unbroken stretches of a series. A point whose x is not finite has no place and is left out without a gap. */
export function runs(points: readonly Point[]): DrawnPoint[][] {
  const all: DrawnPoint[][] = [];
  let open = false;
  for (const { x, y, low, high } of points) {
    if (!Number.isFinite(x)) continue;
    if (!isNumber(y)) {
      open = false;
      continue;
    }
    if (!open) all.push([]);
    open = true;
    all.at(-1)!.push(isNumber(low) && isNumber(high) ? { x, y, spread: [low, high] } : { x, y });
  }
  return all;
}

/** Of the points that share a column of pixels: first, last, and the extremes of y and of the spread. The picture stays the same. */
export function thin(run: readonly DrawnPoint[], columnOf: (x: number) => number): DrawnPoint[] {
  const kept: DrawnPoint[] = [];
  for (let start = 0; start < run.length; ) {
    const column = Math.floor(columnOf(run[start]!.x));
    let end = start + 1;
    while (end < run.length && Math.floor(columnOf(run[end]!.x)) === column) end++;
    const best = [start, start, start, start, start, end - 1];
    for (let i = start; i < end; i++) {
      const at = (n: number) => run[best[n]!]!;
      if (run[i]!.y < at(1).y) best[1] = i;
      if (run[i]!.y > at(2).y) best[2] = i;
      if (low(run[i]!) < low(at(3))) best[3] = i;
      if (high(run[i]!) > high(at(4))) best[4] = i;
    }
    for (const i of [...new Set(best)].sort((a, b) => a - b)) kept.push(run[i]!);
    start = end;
  }
  return kept;
}

const isNumber = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const low = (p: DrawnPoint) => p.spread?.[0] ?? p.y;
const high = (p: DrawnPoint) => p.spread?.[1] ?? p.y;
