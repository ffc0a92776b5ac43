/** Measurements of the demo as Markdown, for every page that quotes them. */
import type { Measured, MeasuredRow } from './data.ts';

export const lossText = (loss: number): string => loss.toFixed(2);

const cellText = (loss: { mean: number; sd: number } | undefined, status: string): string =>
  loss ? `${lossText(loss.mean)} ± ${loss.sd.toFixed(2)}` : status;

/** A row per encoding, a column per context length, and the control with shuffled position numbers. */
export function measuredTable({ trained }: Measured, rows: readonly MeasuredRow[]): string {
  const lengths = rows[0]!.cells.map(({ length }) => `${length / trained.length}× (${length})`);
  return [
    `| encoding | ${lengths.join(' | ')} | shuffled |`,
    `|---|${'---|'.repeat(lengths.length + 1)}`,
    ...rows.map((row) => {
      const cells = row.cells.map(({ loss, status }) => cellText(loss, status));
      return `| ${row.name} | ${cells.join(' | ')} | ${cellText(row.shuffled, '')} |`;
    }),
  ].join('\n');
}

/** Which run it was, in one sentence or two. */
export function trainedText({ command, trained, environment }: Measured): string {
  const { length, steps, batchSize, seeds, modelDim, numLayers, numHeads } = trained;
  return (
    `From \`${command}\` at commit ${environment.commit}, ${environment.finished.slice(0, 10)}, backend ${environment.backend}: ` +
    `${numLayers} layers of width ${modelDim} with ${numHeads} heads, ${steps} steps of ${batchSize} × ${length} characters of Shakespeare, ${seeds} seeds.`
  );
}
