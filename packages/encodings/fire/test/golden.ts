/** Reads golden/: a file, and the ids golden/README.md leaves out (lines "- `id`: reason"). */
import { readFileSync } from 'node:fs';

const text = (name: string) => readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8');

export interface Tensor {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

export const golden = <File>(name: string): File => JSON.parse(text(name)) as File;

export const excluded: ReadonlyMap<string, string> = new Map(
  [...text('README.md').matchAll(/^- `([^`]+)`: (.+)$/gm)].map((match) => [match[1]!, match[2]!]),
);

/** Largest absolute difference, NaN if there is one; throws when lengths differ or nothing is compared. */
export function largestDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length || actual.length === 0)
    throw new Error(`compared ${actual.length} numbers with ${expected.length}`);
  return Array.from(actual).reduce((worst, value, i) => Math.max(worst, Math.abs(value - expected[i]!)), 0);
}
