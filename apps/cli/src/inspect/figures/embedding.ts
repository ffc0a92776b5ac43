/** Pictures of the vectors that `embed` and `infuse` add. */
import { heatmap } from '@posenc/plots';
import { short, spread } from '../../ui/numbers.ts';
import type { Inspection } from '../inspection.ts';
import type { Vectors } from '../measure.ts';
import { atInitialisation, type Drawer, type Figure, facts, type Start, sentences, square } from './figure.ts';
import { isFirstOfKind, whereOf } from './where.ts';

/** More channels than this cannot be told apart in the width of a picture. */
const mostChannels = 128;

/** `embed` first, then the `infuse` of every kind of layer. */
export const embeddingFigures: Drawer = (inspection) => {
  const { embed, groups } = inspection.measured;
  const note = atInitialisation(inspection);
  const words = {
    file: 'embedding',
    added: 'What is added to the embedding at each position',
    to: 'its token’s embedding',
  };
  const infused = groups.filter(isFirstOfKind).flatMap((group) => {
    if (!group.infuse) return [];
    const { text, suffix, sentence } = whereOf(group, inspection.measured);
    const subject = {
      file: `infused${suffix}`,
      added: `What is added before queries and keys are made${text}`,
      to: 'what queries and keys are made of; values do not see it',
      sentence,
    };
    return figuresOfVectors(group.infuse, inspection, subject, note);
  });
  return [...(embed ? figuresOfVectors(embed, inspection, words, note) : []), ...infused];
};

interface Subject {
  readonly file: string;
  readonly added: string;
  /** What a vector is added to. */
  readonly to: string;
  readonly sentence?: string | undefined;
}

/** What else tells where a token stands: other hooks, a causal mask. */
function besides({ holes, dims }: Inspection): string {
  if (holes.length > 1) return `The encoding does not rest on it alone: it fills ${holes.join(', ')}.`;
  return dims.causal
    ? 'Besides the causal mask, only this vector tells the model where a token stands.'
    : 'Only this vector tells the model where a token stands.';
}

function figuresOfVectors({ table, width }: Vectors, inspection: Inspection, subject: Subject, note: Start): Figure[] {
  const { positions } = inspection.measured;
  const columns = Math.min(width, mostChannels);
  const { file, added, to } = subject;
  const alike = 'How alike the vectors of two positions are';
  return [
    {
      name: file,
      title: added,
      caption: sentences(
        `A row is the vector that one position adds to ${to}; a column is one channel.`,
        columns < width && `The first ${columns} of ${width} channels.`,
        besides(inspection),
        subject.sentence,
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
      name: `${file}-similarity`,
      title: alike,
      caption: sentences(
        'Cosine of the angle between the vectors of two positions: 1 on the diagonal, where a position meets itself.',
        'Bands along the diagonal mean that the distance can be read off; no pattern means that no position knows its neighbours.',
        subject.sentence,
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
}

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
