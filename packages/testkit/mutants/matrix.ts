/** Which law catches which planted bug. */
import { type LawOptions, lawsFor } from '../src/index.ts';
import { mutants } from './catalogue/index.ts';
import { loadEdited, loadMutant } from './load.ts';
import type { Mutant } from './mutant.ts';

/** Laws of one plug-in that do not hold, and what they say; `only`: just this law. */
export async function violations(
  mutant: Mutant,
  options: LawOptions & { readonly original?: boolean; readonly only?: string } = {},
): Promise<Map<string, Error>> {
  const { original, only, ...rest } = options;
  const plugin = await (original ? loadEdited(mutant.encoding) : loadMutant(mutant));
  const found = new Map<string, Error>();
  for (const law of lawsFor(plugin, mutant.configs, rest)) {
    if (found.has(law.law) || (only && law.law !== only)) continue;
    try {
      await law.run();
    } catch (error) {
      found.set(law.law, error as Error);
    }
  }
  return found;
}

export interface Row {
  readonly mutant: Mutant;
  readonly caught: readonly string[];
}

export async function matrix(report: (row: Row) => void = () => {}): Promise<Row[]> {
  const rows: Row[] = [];
  for (const mutant of mutants) {
    const row = { mutant, caught: [...(await violations(mutant)).keys()] };
    report(row);
    rows.push(row);
  }
  return rows;
}

/** One line per mutant, one character per law: ● caught. */
export function formatMatrix(rows: readonly Row[], laws: readonly string[]): string {
  const number = (i: number) => String(i + 1).padStart(2);
  const legend = laws.map((law, i) => `${number(i)}  ${law}`);
  const header = [0, 1].map((digit) => laws.map((_, i) => number(i)[digit]).join(''));
  const lines = rows.map(({ mutant, caught }) => {
    const marks = laws.map((law) => (caught.includes(law) ? '●' : '·'));
    return `${marks.join('')}  ${titleOf(mutant)}`;
  });
  const escaped = rows.filter(({ caught }) => caught.length === 0).length;
  return [...legend, '', ...header, ...lines, '', `${rows.length} planted bugs, ${escaped} escaped`, ''].join('\n');
}

export const titleOf = ({ encoding, bug }: Mutant): string => `${encoding}: ${bug}`;
