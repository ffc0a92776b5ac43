/** Laws about what stands beside a sequence: padding, packing, other rows. */
import { explicit, fromLengths, type Grid, range, sliceColumns } from '@posenc/core';
import { type Bench, joinRows, joinTokens, logitsOf, tokensFor, tokensOf } from '../bench.ts';
import type { LawSpec } from '../case.ts';
import { gapped } from './placing.ts';

const rowOf = (grid: Grid, b: number): Grid => ({
  rows: 1,
  cols: grid.cols,
  data: grid.data.slice(b * grid.cols, (b + 1) * grid.cols),
});

const alone = (bench: Bench, tokens: Grid, b: number, from: number, to: number) =>
  logitsOf(bench, { tokens: sliceColumns(rowOf(tokens, b), from, to) });

export const padding: LawSpec = {
  law: 'padding',
  statement: 'Real tokens of a batch padded on the left, or on the right, have the logits of each sequence alone.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const length = c.lengthFor(bench);
      const pad = Math.floor(length / 3);
      const tokens = tokensFor(bench, 2, length);
      for (const side of ['left', 'right'] as const) {
        const [from, to] = side === 'left' ? [pad, length] : [0, length - pad];
        const real = (t: number) => (t >= from && t < to ? 1 : 0);
        const mask = explicit([new Array(length).fill(1), Array.from({ length }, (_, t) => real(t))]);
        const batch = await logitsOf(bench, { tokens, mask });
        const compare = async (b: number, start: number, end: number) =>
          c.equal(
            tokensOf(batch, b, start, end),
            await alone(bench, tokens, b, start, end),
            `row ${b} of a batch with ${pad} tokens of ${side} padding in row 1, with the row alone (${stack.name})`,
            'positions counted over columns instead of real tokens; positions or seqLen of the first or longest row used for all rows',
          );
        await compare(0, 0, length);
        await compare(1, from, to);
      }
    }
  },
};

export const packing: LawSpec = {
  law: 'packing',
  statement:
    'Sequences packed one after another in a row, positions restarting in each, have the logits of each sequence alone.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const length = c.lengthFor(bench);
      if (length < 6) return;
      const [half, third, sixth] = [2, 3, 6].map((n) => Math.floor(length / n)) as [number, number, number];
      const lengths = [
        [half, sixth, length - half - sixth],
        [third, length - third],
      ];
      const tokens = tokensFor(bench, 2, length);
      const packed = await logitsOf(bench, { tokens, ...fromLengths(lengths) });
      for (const [b, row] of lengths.entries()) {
        const separate = [];
        for (const [s, size] of row.entries()) {
          const start = row.slice(0, s).reduce((sum, n) => sum + n, 0);
          separate.push(await alone(bench, tokens, b, start, start + size));
        }
        c.equal(
          tokensOf(packed, b),
          joinTokens(separate),
          `row ${b}, packed from sequences of ${row.join(', ')} tokens, with each alone (${stack.name})`,
          'positions taken from columns or from the first token of the row; one seqLen for a whole row',
        );
      }
    }
  },
};

export const batching: LawSpec = {
  law: 'batching',
  statement: 'A batch has the logits of its rows read one by one, be their positions the same or different in each.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const { maxPosition } = bench.encoding.traits;
      const length = c.lengthFor(bench);
      const tokens = tokensFor(bench, 2, length);
      const counted = Array.from(range(length).data);
      const placings: [string, Grid][] = [
        ['the same positions', explicit([counted, counted])],
        ['positions of their own', gapped(2, length, maxPosition)],
      ];
      for (const [what, positions] of placings) {
        const rows = [];
        for (const b of [0, 1])
          rows.push(await logitsOf(bench, { tokens: rowOf(tokens, b), positions: rowOf(positions, b) }));
        c.equal(
          await logitsOf(bench, { tokens, positions }),
          joinRows(rows),
          `a batch of two rows with ${what}, with each row alone (${stack.name})`,
          'tables built for the first row only; a reshape that mixes rows; statistics over the batch',
        );
      }
    }
  },
};
