/** Pictures of what `rotate` was seen to do, whatever it states about itself. */
import { heatmap, lineChart } from '@posenc/plots';
import { short } from '../../ui/numbers.ts';
import type { Rotation } from '../rotation.ts';
import { atInitialisation, type Drawer, type Figure, facts, type Start, sentences, square } from './figure.ts';
import { isFirstOfKind, type Where, whereOf } from './where.ts';

export const rotationFigures: Drawer = (inspection) =>
  inspection.measured.groups.filter(isFirstOfKind).flatMap((group) => {
    const { rotation } = group;
    if (!rotation) return [];
    const where = whereOf(group, inspection.measured);
    const note = atInitialisation(inspection);
    return [matrix(rotation, where, note), products(rotation, where, note), similarity(rotation, where, note)];
  });

function matrix(rotation: Rotation, where: Where, note: Start): Figure {
  const { pairs, still, headDim, width, sameInAllHeads } = rotation;
  const title = `What becomes of a head’s channels at position 1${where.text}`;
  const first = pairs?.[0]?.channels;
  return {
    name: `rotation-matrix${where.suffix}`,
    title,
    caption: sentences(
      'The matrix that position 1 applies to a query: column = channel before, row = channel after.',
      first &&
        `Each pair of channels is turned in its own plane, here channel ${first[0]} with channel ${first[1]}: cosines on the diagonal, ± sines where the partners meet.`,
      first && first[1] - first[0] > 1 && 'The partners lie half of the turning channels apart (“half” pairing).',
      first && first[1] - first[0] === 1 && 'The partners are neighbours (“interleaved” pairing).',
      first && still > 0 && `${still} of ${headDim} channels do not turn at all.`,
      !pairs && 'This is not a set of turns in planes of two channels.',
      !sameInAllHeads && 'Head 0; heads differ.',
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      heatmap(
        {
          title,
          subtitle: facts('column: channel before', 'row: channel after', !sameInAllHeads && 'head 0', note.fact),
          x: { label: 'channel before' },
          y: { label: 'channel after' },
          rows: width,
          cols: headDim,
          data: rotation.matrix,
          colorScale: 'diverging',
          domain: [-1, 1],
        },
        square,
      ),
  };
}

function products({ products: { positions: n, data } }: Rotation, where: Where, note: Start): Figure {
  const title = `Score of a vector with itself, by both positions${where.text}`;
  let uneven = 0;
  for (let i = 1; i < n; i++)
    for (let j = 1; j < n; j++) uneven = Math.max(uneven, Math.abs(data[i * n + j]! - data[(i - 1) * n + j - 1]!));
  return {
    name: `rotation-products${where.suffix}`,
    title,
    caption: sentences(
      'The same content as a query (row) and as a key (column), each turned by its own position: their product on average over all directions.',
      uneven < 1e-4
        ? 'Every diagonal has one colour: the positions are gone, and only the distance is left.'
        : 'Diagonals are not of one colour: more than the distance counts.',
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      heatmap(
        {
          title,
          subtitle: facts('mean over all directions', note.fact),
          x: { label: 'key position' },
          y: { label: 'query position' },
          rows: n,
          cols: n,
          data,
          colorScale: 'diverging',
          ...(data.every((v) => Math.abs(v) <= 1.001) && { domain: [-1, 1] as const }),
        },
        square,
      ),
  };
}

function similarity(rotation: Rotation, where: Where, note: Start): Figure {
  const title = `Score of a vector with itself, by distance${where.text}`;
  const { positions, lengthError } = rotation;
  return {
    name: `rotation-similarity${where.suffix}`,
    title,
    caption: sentences(
      'The same content at two positions: their product, as a share of what it is at distance 0, on average over all directions.',
      rotation.pairs &&
        rotation.pairs.length > 1 &&
        'The faster a pair turns, the sooner it drops out of step; what stays is held up by the slow ones.',
      lengthError < 1e-4
        ? 'Lengths are kept: only the angle between query and key changes.'
        : `Lengths are not kept: they change by up to ${short(100 * lengthError, 2)} %.`,
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      lineChart({
        title,
        subtitle: facts(`mean over all directions, distances 0 to ${positions - 1}`, note.fact),
        x: { label: 'distance (positions)' },
        y: { label: 'share of the score at distance 0', domain: [Math.min(0, ...rotation.similarity), undefined] },
        series: [
          {
            name: 'same content',
            points: Array.from(rotation.similarity, (y, x) => ({ x, y: y / rotation.similarity[0]! })),
          },
        ],
      }),
  };
}
