/** Pictures of the hooks that may read content: what they do for random content, by pair and by distance. */
import { heatmap, lineChart } from '@posenc/plots';
import { spread } from '../../ui/numbers.ts';
import { contentSeed, type OnContent, type Pairs } from '../content.ts';
import type { Inspection } from '../inspection.ts';
import { atInitialisation, type Drawer, type Figure, facts, type Start, sentences, square } from './figure.ts';
import { logits, pairGrid, visible } from './pairs.ts';
import { isFirstOfKind, type Where, whereOf } from './where.ts';

/** Where content decides, a mean over fewer pairs than this says little. */
const fewestPairs = 8;

/** Lines that can be told apart in one picture. */
const mostLines = 12;

/** What is drawn of one hook. */
interface Subject {
  /** First word of the files. */
  readonly file: string;
  readonly title: string;
  /** What a number is. */
  readonly meaning: string;
  readonly valueLabel: string;
}

const subjects = {
  scores: {
    file: 'scores',
    title: 'Change of the score',
    meaning: 'The score this encoding puts in place of ⟨q, k⟩ · scoreScale, less what it replaces.',
    valueLabel: 'change (logits)',
  },
  bias: {
    file: 'bias',
    title: 'Bias',
    meaning: 'The number added to a score before the softmax.',
    valueLabel: logits,
  },
  mix: {
    file: 'mix',
    title: 'Length of the vector added to a value',
    meaning: 'The vector added to the value of a key that has all the attention of a query: its length.',
    valueLabel: 'length',
  },
} as const satisfies Record<string, Subject>;

export const contentFigures: Drawer = (inspection) =>
  inspection.measured.groups.filter(isFirstOfKind).flatMap((group) => {
    const where = whereOf(group, inspection.measured);
    const note = atInitialisation(inspection);
    const pairs = (['scores', 'bias', 'mix'] as const).flatMap((hook) => {
      const seen = group[hook];
      return seen
        ? [
            byPair(subjects[hook], seen, inspection, where, note),
            byDistance(subjects[hook], seen, inspection, where, note),
          ]
        : [];
    });
    return [...(group.carried ? [carried(group.carried, where, note)] : []), ...pairs];
  });

/** Said of numbers that content decides. */
const about = ({ readsContent }: Pairs): Start =>
  readsContent
    ? {
        fact: `random content (seed ${contentSeed})`,
        sentence: `Drawn for random inputs, queries, keys and values, seed ${contentSeed}: other content gives other numbers.`,
      }
    : { fact: 'positions alone', sentence: 'Content does not change it: positions alone decide.' };

function byPair(subject: Subject, seen: Pairs, { dims }: Inspection, where: Where, note: Start): Figure {
  const { positions: n, data } = seen;
  const title = `${subject.title}, head 0${where.text}`;
  const content = about(seen);
  return {
    name: `${subject.file}-positions${where.suffix}`,
    title,
    caption: sentences(
      subject.meaning,
      'A row is a query, a column a key.',
      dims.causal && 'Keys ahead of the query are grey: the causal mask hides them.',
      content.sentence,
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      heatmap(
        {
          title,
          subtitle: facts(`the first ${n} positions`, content.fact, note.fact),
          ...pairGrid(n, visible(n, data, dims.causal), subject.valueLabel),
        },
        square,
      ),
  };
}

function byDistance(subject: Subject, seen: Pairs, { traits }: Inspection, where: Where, note: Start): Figure {
  const { positions, byOffset } = seen;
  const { offsets, heads, mean, deviation } = byOffset;
  const n = offsets.length;
  const causal = offsets[n - 1] === 0;
  const title = `${subject.title} by distance${where.text}`;
  const content = about(seen);
  const same = mean.every((value, i) => Math.abs(value - mean[i % n]!) <= 1e-5 * Math.abs(value));
  const shown = same ? [0] : spread(heads, mostLines);
  const reach = seen.readsContent ? Math.max(1, positions - fewestPairs) : positions;
  const spreads = deviation.some((d) => d > 1e-6);
  const pointsOf = (h: number) =>
    Array.from(offsets, (offset, i) => {
      const [y, d] = [mean[h * n + i]!, deviation[h * n + i]!];
      return { x: causal ? -offset : offset, y, ...(spreads && h === 0 && { low: y - d, high: y + d }) };
    })
      .filter(({ x }) => Math.abs(x) <= reach)
      .sort((a, b) => a.x - b.x);
  return {
    name: `${subject.file}-distance${where.suffix}`,
    title,
    caption: sentences(
      subject.meaning,
      spreads
        ? 'A line per head: the mean over all pairs at that distance. Shaded, for head 0: one standard deviation to either side.'
        : `${same ? 'One line for all heads' : 'A line per head'}; ${traits.shiftInvariant ? '' : `among the first ${positions} positions `}all pairs at one distance have the same${traits.shiftInvariant ? '.' : ', though absolute positions matter to this encoding.'}`,
      content.sentence,
      where.sentence,
      note.sentence,
    ),
    draw: () =>
      lineChart({
        title,
        subtitle: facts(
          spreads && 'mean, ± standard deviation of head 0',
          !same && shown.length < heads && `${shown.length} of ${heads} heads`,
          content.fact,
          note.fact,
        ),
        x: { label: causal ? 'distance (positions)' : 'offset of the key (positions)' },
        y: { label: subject.valueLabel },
        series: shown.map((h) => ({ name: same ? 'all heads' : `head ${h}`, points: pointsOf(h) })),
      }),
  };
}

function carried(
  { heads, positions, width, data }: NonNullable<OnContent['carried']>,
  where: Where,
  note: Start,
): Figure {
  const title = `Numbers carried along with every token${where.text}`;
  const shown = spread(heads * width, mostLines);
  return {
    name: `carried${where.suffix}`,
    title,
    caption: sentences(
      'What every token leaves for the tokens after it, beside its key and value: a line per head',
      width > 1 && 'and number',
      `. Drawn for random inputs, seed ${contentSeed}.`,
      where.sentence,
      note.sentence,
    ).replace(' .', '.'),
    draw: () =>
      lineChart({
        title,
        subtitle: facts(
          `${shown.length === heads * width ? 'all' : `${shown.length} of`} ${heads * width} numbers of a token`,
          `random inputs (seed ${contentSeed})`,
          note.fact,
        ),
        x: { label: 'position' },
        y: { label: 'carried number' },
        series: shown.map((line) => {
          const [h, f] = [Math.floor(line / width), line % width];
          return {
            name: width > 1 ? `head ${h}, number ${f}` : `head ${h}`,
            points: Array.from({ length: positions }, (_, x) => ({ x, y: data[(h * positions + x) * width + f]! })),
          };
        }),
      }),
  };
}
