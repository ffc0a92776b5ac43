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

/** A Markdown table, mutants down and laws across. */
export function formatMatrix(rows: readonly Row[], laws: readonly string[]): string {
  const legend = laws.map((law, i) => `${i + 1} ${law}`).join(' · ');
  const header = `| planted bug | ${laws.map((_, i) => i + 1).join(' | ')} |`;
  const rule = `|---|${laws.map(() => ':-:').join('|')}|`;
  const line = ({ mutant, caught }: Row) =>
    `| ${mutant.encoding}: ${mutant.bug} | ${laws.map((law) => (caught.includes(law) ? '●' : ' ')).join(' | ')} |`;
  return [legend, '', header, rule, ...rows.map(line)].join('\n');
}
