/** Pictures of what is added to, or multiplied with, the attention scores. */
import type { NamedTable } from '@posenc/core';
import { barChart, heatmap, lineChart, stepChart } from '@posenc/plots';
import { spread } from '../../ui/numbers.ts';
import type { Inspection, Part } from '../inspection.ts';
import type { Group, RelativeBias } from '../measure.ts';
import {
  atInitialisation,
  capitalised,
  type Drawer,
  type Figure,
  facts,
  type Start,
  sentences,
  square,
} from './figure.ts';
import { logits, pairGrid, visible } from './pairs.ts';
import { isFirstOfKind, type Where, whereOf } from './where.ts';

const byX = <P extends { x: number }>(points: P[]): P[] => points.sort((a, b) => a.x - b.x);

/** Lines that can be told apart in one picture. */
const mostHeads = 12;

export const biasFigures: Drawer = (inspection) => {
  const { parts, measured } = inspection;
  const drawn = parts.flatMap((part) => part.tables.flatMap((table) => fromTable(part, table, inspection)));
  return [
    ...measured.groups.filter(isFirstOfKind).flatMap((group) => fromGroup(group, whereOf(group, measured), inspection)),
    ...drawn,
  ];
};

function fromGroup(group: Group, where: Where, inspection: Inspection): Figure[] {
  const note = atInitialisation(inspection);
  const { relativeBias, scale } = group;
  return [
    ...(relativeBias ? [byDistance(relativeBias, where, note), asMatrix(relativeBias, where, note)] : []),
    ...(scale && scale.positions > 1 ? [scales(scale, where, note)] : []),
    ...(scale && scale.positions === 1 && scale.heads > 1 ? [scalesByHead(scale, where, note)] : []),
  ];
}

function byDistance({ offsets, heads, data }: RelativeBias, where: Where, note: Start): Figure {
  const n = offsets.length;
  const causal = offsets[n - 1] === 0;
  const shown = spread(heads, mostHeads);
  const title = `Bias by distance${where.text}`;
  return {
    name: `bias${where.suffix}`,
    title,
    caption: sentences(
      'The number added to a score before the softmax, by how far the key lies from the query: one line per head.',
      'A bias of −1 divides a key’s share of attention by e, about 2.7.',
      causal
        ? 'Causal: keys ahead are masked.'
        : 'Bidirectional: negative offsets lie behind the query, positive ones ahead.',
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      (isStepped(data, n) ? stepChart : lineChart)({
        title,
        subtitle: facts(
          `added to the scores, ${shown.length === heads ? 'all' : `${shown.length} of`} ${heads} heads`,
          note.fact,
        ),
        x: { label: causal ? 'distance (positions)' : 'offset of the key (positions)' },
        y: { label: 'bias (logits)' },
        series: shown.map((h) => ({
          name: `head ${h}`,
          points: Array.from(offsets, (offset, i) => ({ x: causal ? -offset : offset, y: data[h * n + i]! })).sort(
            (a, b) => a.x - b.x,
          ),
        })),
      }),
  };
}

/** Whether most neighbouring offsets of head 0 share a value: levels, then, and no slopes between them. */
function isStepped(data: Float32Array, n: number): boolean {
  let equal = 0;
  for (let i = 1; i < n; i++) if (data[i] === data[i - 1]) equal++;
  return equal > n / 2;
}

function asMatrix({ offsets, data }: RelativeBias, where: Where, note: Start): Figure {
  const all = offsets.length;
  const causal = offsets[all - 1] === 0;
  const n = Math.min(64, causal ? all : (all + 1) / 2);
  const zero = causal ? all - 1 : (all - 1) / 2;
  const title = `Bias of head 0 as it is added to the scores${where.text}`;
  return {
    name: `bias-matrix${where.suffix}`,
    title,
    caption: sentences(
      'A row is a query, a column a key. Every diagonal has one colour, because only the distance counts.',
      causal && 'Keys ahead of the query are grey: the causal mask hides them.',
      where.sentence,
      note.sentence,
    ),
    draw: () => {
      // In a causal row there is nothing for offsets ahead, where nothing is visible.
      const cells = Array.from({ length: n * n }, (_, i) => data[zero + (i % n) - Math.floor(i / n)]!);
      return heatmap(
        {
          title,
          subtitle: facts(`the first ${n} positions`, note.fact),
          ...pairGrid(n, visible(n, cells, causal), logits),
        },
        square,
      );
    },
  };
}

function scales({ heads, positions, data }: NonNullable<Group['scale']>, where: Where, note: Start): Figure {
  const title = `Factor on the scores by position${where.text}`;
  return {
    name: `scale${where.suffix}`,
    title,
    caption: sentences(
      'Every score of a query at this position is multiplied by this factor.',
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      lineChart({
        title,
        x: { label: 'query position' },
        y: { label: 'factor' },
        series: spread(heads, mostHeads).map((h) => ({
          name: heads > 1 ? `head ${h}` : 'all heads',
          points: Array.from({ length: positions }, (_, x) => ({ x, y: data[h * positions + x]! })),
        })),
      }),
  };
}

function scalesByHead({ data }: NonNullable<Group['scale']>, where: Where, note: Start): Figure {
  const title = `Factor on the scores by head${where.text}`;
  return {
    name: `scale${where.suffix}`,
    title,
    caption: sentences(
      'Every score of a head is multiplied by its factor: above 1 attention is sharper, below 1 it is spread out.',
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      barChart({
        title,
        x: { label: 'factor' },
        bars: Array.from(data, (value, h) => ({ name: `head ${h}`, value })),
      }),
  };
}

function fromTable(part: Part, table: NamedTable, { parts, dims: { causal } }: Inspection): Figure[] {
  const title = capitalised(parts.length > 1 ? `${table.name}: ${part.name}` : table.name);
  if (table.quantity === 'bucket') return [buckets(table, title)];
  if (table.quantity === 'slope' && table.shape.length === 1 && table.shape[0]! <= 200) return [slopes(table, title)];
  if (table.quantity === 'value' && table.axes.join() === 'query,key' && table.shape[0] === table.shape[1])
    return [ofPairs(table, title, causal)];
  return [];
}

function ofPairs({ name, shape, data }: NamedTable, title: string, causal: boolean): Figure {
  const n = shape[0]!;
  return {
    name: 'pairs',
    title,
    caption: sentences(
      'A row is a query, a column a key.',
      causal && 'Keys ahead of the query are grey: the causal mask hides them.',
    ),
    draw: () => heatmap({ title, ...pairGrid(n, visible(n, data, causal), name) }, square),
  };
}

function buckets({ data, start = [0] }: NamedTable, title: string): Figure {
  const first = start[0] ?? 0;
  const behind = first + data.length - 1 <= 0;
  return {
    name: 'buckets',
    title,
    caption: sentences('Offsets in one bucket share all that is learned for it.', ...bucketSentences(data, first)),
    draw: () =>
      stepChart({
        title,
        subtitle: 'row of the learned table, by how far the key is from the query',
        x: { label: behind ? 'distance (positions)' : 'offset of the key (positions)' },
        y: { label: 'bucket' },
        series: [
          { name: 'bucket', points: byX(Array.from(data, (y, i) => ({ x: behind ? -first - i : first + i, y }))) },
        ],
      }),
  };
}

/** Which offsets share a bucket, read off the table: for either side of the query, or once where both are alike. */
function bucketSentences(data: ArrayLike<number>, first: number): string[] {
  const all = Array.from(data);
  const side = (sign: 1 | -1): string | undefined => {
    const buckets = all
      .map((bucket, i) => ({ bucket, distance: sign * (first + i) }))
      .filter(({ distance }) => distance >= 0)
      .sort((a, b) => a.distance - b.distance);
    if (buckets.length < 2) return undefined;
    const sharing = (bucket: number) => all.filter((other) => other === bucket).length;
    const alone = buckets.findIndex(({ bucket }) => sharing(bucket) > 1);
    if (alone === -1) return 'every offset drawn has a bucket of its own.';
    const last = buckets.at(-1)!.bucket;
    const farthest = buckets.find(({ bucket }) => bucket === last)!.distance;
    const between = buckets.filter(({ distance }) => distance >= buckets[alone]!.distance && distance < farthest);
    const most = Math.max(0, ...between.map(({ bucket }) => sharing(bucket)));
    const steps = [
      alone === 1 && `offset ${buckets[0]!.distance} has a bucket of its own`,
      alone > 1 && `offsets up to ${buckets[alone - 1]!.distance} have a bucket of their own`,
      most > 1 && `then up to ${most} share one`,
      `all that are drawn from ${farthest} on share the last`,
    ];
    return `${steps.filter(Boolean).join(', ')}.`;
  };
  const [behind, ahead] = [side(-1), side(1)];
  if (!behind || !ahead || behind === ahead) return [capitalised(behind ?? ahead ?? '')];
  return [`Behind the query: ${behind}`, `Ahead of it: ${ahead}`];
}

function slopes({ data, axes }: NamedTable, title: string): Figure {
  return {
    name: 'slopes',
    title,
    caption: sentences(
      'Logits lost per position of distance, one bar per head. A steep head looks at the nearest tokens only, a gentle one far back.',
    ),
    draw: () =>
      barChart({
        title,
        x: { label: 'logits per position' },
        bars: Array.from(data, (value, i) => ({ name: `${axes[0]} ${i}`, value })),
      }),
  };
}
