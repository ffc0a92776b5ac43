/** Reads a package's golden/ folder, and runs every case of a file that its README does not leave out. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** A stored tensor: row-major. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

/** What every case of a file has. */
export interface GoldenCase {
  readonly id: string;
  readonly kind: string;
}

/** The golden/ folder of the package whose test/ holds `testFile`: call it with `import.meta.url`. */
export function goldenOf(testFile: string) {
  const text = (name: string) => readFileSync(new URL(`../golden/${name}`, testFile), 'utf8');
  const golden = <File>(name: string): File => JSON.parse(text(name)) as File;
  /** Ids that golden/README.md leaves out (lines "- `id`: reason"). */
  const excluded: ReadonlyMap<string, string> = new Map(
    [...text('README.md').matchAll(/^- `([^`]+)`: (.+)$/gm)].map((match) => [match[1]!, match[2]!]),
  );
  /**
   * Tests of all cases of a file, of which it has `count`, each by the runner of its kind. Every id is run or left out with a reason;
   * reasons may also be about ids of other files, `elsewhere`.
   */
  function testCases<C extends GoldenCase>(
    title: string,
    file: string,
    count: number,
    runners: Readonly<Record<string, (c: C) => void | Promise<void>>>,
    elsewhere: readonly string[] = [],
  ): void {
    describe(`${file}: ${title}`, () => {
      const { cases } = golden<{ cases: C[] }>(file);
      test('every id is run or excluded', () => {
        expect(cases.length).toBe(count);
        expect(new Set(cases.map(({ id }) => id)).size).toBe(count);
        for (const c of cases) if (!excluded.has(c.id)) expect(Object.keys(runners)).toContain(c.kind);
        const known = [...cases.map(({ id }) => id), ...elsewhere];
        for (const id of excluded.keys()) expect(known).toContain(id);
      });
      test.each(cases.filter(({ id }) => !excluded.has(id)))('$id', (c) => runners[c.kind]!(c));
    });
  }
  return { golden, excluded, testCases };
}

/** Largest absolute difference, NaN if there is one; throws when lengths differ or nothing is compared. */
export function largestDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length || actual.length === 0)
    throw new Error(`compared ${actual.length} numbers with ${expected.length}`);
  return Array.from(actual).reduce((worst, value, i) => Math.max(worst, Math.abs(value - expected[i]!)), 0);
}
