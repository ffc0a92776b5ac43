/** Pictures of the vectors that `embed` adds. */
import { heatmap } from '@posenc/plots';
import { short, spread } from '../../ui/numbers.ts';
import { atInitialisation, type Drawer, facts, sentences, square } from './figure.ts';

/** More channels than this cannot be told apart in the width of a picture. */
const mostChannels = 128;

export const embeddingFigures: Drawer = (inspection) => {
  const { embed, positions } = inspection.measured;
  if (!embed) return [];
  const { table, width } = embed;
  const columns = Math.min(width, mostChannels);
  const note = atInitialisation(inspection);
  const [added, alike] = [
    'What is added to the embedding at each position',
    'How alike the vectors of two positions are',
  ];
  return [
    {
      name: 'embedding',
      title: added,
      caption: sentences(
        'A row is the vector that one position adds to its token’s embedding, a column one channel.',
        columns < width && `The first ${columns} of ${width} channels.`,
        'Only this vector tells the model where a token stands.',
        note.sentence,
      ),
      draw: () =>
        heatmap({
          title: added,
          subtitle: facts(`${positions} positions downward, ${columns} channels across`, note.fact),
          x: { label: 'channel' },
          y: { label: 'position' },
          rows: positions,
          cols: columns,
          data: columns < width ? table.filter((_, i) => i % width < columns) : table,
          colorScale: 'diverging',
          valueLabel: 'added value',
        }),
    },
    {
      name: 'embedding-similarity',
      title: alike,
      caption: sentences(
        'Cosine of the angle between the vectors of two positions: 1 on the diagonal, where a position meets itself.',
        'Bands along the diagonal mean that the distance can be read off; no pattern means that no position knows its neighbours.',
        note.sentence,
      ),
      draw: () => {
        const shown = spread(positions, 256);
        const axis = {
          label: shown.length < positions ? `position ÷ ${short((positions - 1) / (shown.length - 1), 3)}` : 'position',
        };
        const grid = {
          title: alike,
          subtitle: facts('cosine similarity', note.fact),
          x: axis,
          y: axis,
          rows: shown.length,
          cols: shown.length,
          data: cosines(table, width, shown),
          colorScale: 'diverging',
          domain: [-1, 1],
          valueLabel: 'cosine',
        } as const;
        return heatmap(grid, square);
      },
    },
  ];
};

/** Cosine similarity of the given rows, row-major; not a number where a row is zero. */
export function cosines(table: Float32Array, width: number, rows: readonly number[]): Float64Array {
  const units = rows.map((row) => {
    const vector = Float64Array.from(table.subarray(row * width, (row + 1) * width));
    const norm = Math.hypot(...vector);
    return vector.map((x) => x / norm);
  });
  const n = rows.length;
  const all = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let product = 0;
      for (let d = 0; d < width; d++) product += units[i]![d]! * units[j]![d]!;
      all[i * n + j] = product;
      all[j * n + i] = product;
    }
  return all;
}
