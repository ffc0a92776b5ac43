/** Colours and layout of plain text. */
import { styleText } from 'node:util';
import type { Output } from '../io.ts';

type Format = Parameters<typeof styleText>[0];

/** Paints text for an output, or leaves it as it is where colours are unwanted. */
export const painter = (output: Output) => (format: Format, text: string) =>
  output.color ? styleText(format, text, { validateStream: false }) : text;

export type Paint = ReturnType<typeof painter>;

/** Width to lay text out in: the terminal's, at most `most`; 100 where there is none. */
export const widthOf = (output: Output, most = 120): number => Math.max(40, Math.min(output.columns ?? 100, most));

/** Characters on screen; good for the letters and symbols used here, all of them single-width. */
export const length = (text: string): number => Array.from(text).length;

/** Words of a paragraph on lines of at most `width` characters; a longer word stands alone. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && length(last) + 1 + length(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A paragraph whose first line starts with `first` and the others with as many spaces. */
export function hanging(first: string, text: string, width: number): string {
  const indent = length(first);
  const [head = '', ...rest] = wrap(text, Math.max(20, width - indent));
  return [first + head, ...rest.map((line) => ' '.repeat(indent) + line)].join('\n');
}

/** Rows as left-aligned columns two spaces apart; columns listed in `right` are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, c) => Math.max(...rows.map((row) => length(row[c] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, c) => {
        const gap = ' '.repeat(widths[c]! - length(cell));
        return right.includes(c) ? gap + cell : cell + gap;
      })
      .join('  ')
      .trimEnd(),
  );
}
