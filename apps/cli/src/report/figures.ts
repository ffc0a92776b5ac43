/** The report's figures from @posenc/plots, each in a wide and a narrow drawing: the page shows the one that can be read. */
import { barChart, type CartesianData, type FigureOptions, lineChart, type Point, type Series } from '@posenc/plots';
import type { Cell, Row, Spread } from '@posenc/training';
import { binned, smoothed } from './binning.ts';
import type { LossCurve } from './curves.ts';
import { count } from './format.ts';
import { type Html, html, raw } from './html.ts';
import { cellAt, columnAt, familyOf, lengthAt, meanAt, type Reading, trialsOf } from './reading.ts';

/** More lines than this in one picture, and the overrides get pictures of their own. */
const mostLines = 12;

export const extrapolationFigures = (reading: Reading): Html[] =>
  drawn(lineGroups(reading).map((group, i) => extrapolation(reading, group, `extrapolation-${i + 1}`)));

/** The main picture of tasks of problems. */
export const exactMatchFigures = (reading: Reading): Html[] =>
  drawn(lineGroups(reading).map((group, i) => exactMatches(reading, group, `exact-match-${i + 1}`)));

const drawn = (figures: readonly (Html | undefined)[]): Html[] => figures.filter((figure) => figure !== undefined);

interface Group {
  readonly rows: readonly Row[];
  /** For titles; '' when one picture shows all. */
  readonly part: string;
}

/** All rows in one picture when they are few; else the entries, then entries with their overrides, as many as fit. */
function lineGroups({ comparison, entries, overrides }: Reading): Group[] {
  if (comparison.rows.length <= mostLines || overrides.length === 0) return [{ rows: comparison.rows, part: '' }];
  const groups: Row[][] = [];
  for (const entry of entries) {
    const family = comparison.rows.filter((row) => row.trainedAs === entry.name);
    if (family.length === 1) continue;
    const group = groups.at(-1);
    if (group && group.length + family.length <= mostLines) group.push(...family);
    else groups.push(family);
  }
  const numbered = (i: number) => (groups.length > 1 ? ` (${i + 1} of ${groups.length})` : '');
  return [
    { rows: entries, part: ': as trained' },
    ...groups.map((rows, i) => ({ rows, part: `: with changes at evaluation${numbered(i)}` })),
  ];
}

function extrapolation(reading: Reading, { rows, part }: Group, id: string): Html | undefined {
  const { comparison, scored, problems } = reading;
  const series = linesOf(reading, rows, (cell) => cell.loss);
  const cap = ceiling(reading, series);
  const cut =
    cap !== undefined
      ? ` The axis is cut at ${reading.loss(cap)}; values above stand at the line’s end or in the table.`
      : '';
  const L = comparison.suite.training.length;
  const targets = problems
    ? `Loss on the tokens of the answers${spreadWords(reading)}. Other problems at every size, larger ones to the right.`
    : `Loss on the last ${count(L, reading.unit)} of each window${spreadWords(reading)}. The targets are the same at every length; only the context before them grows.`;
  return lines(
    reading,
    id,
    {
      title: `Loss by ${problems ? 'problem size' : 'evaluation length'}${part}`,
      x: lengthAxis(reading),
      y: { label: `loss (nats per ${scored})`, domain: [undefined, cap] },
      series,
      references: problems ? [] : references(reading),
    },
    `${targets}${endsWords(reading, rows)}${cut}`,
  );
}

function exactMatches(reading: Reading, { rows, part }: Group, id: string): Html | undefined {
  const within = (share: number) => Math.min(100, Math.max(0, 100 * share));
  const series = linesOf(reading, rows, (cell) => cell.exactMatch).map((line) => ({
    ...line,
    points: line.points.map(({ x, y, low, high }): Point => {
      if (typeof y !== 'number') return { x, y };
      if (typeof low !== 'number' || typeof high !== 'number') return { x, y: within(y) };
      return { x, y: within(y), low: within(low), high: within(high) };
    }),
  }));
  return lines(
    reading,
    id,
    {
      title: `Exact match by problem size${part}`,
      x: lengthAxis(reading),
      y: { label: 'problems exactly right (%)', domain: [0, 100], ticks: [0, 20, 40, 60, 80, 100] },
      series,
    },
    `Share of problems with every token of the answer right${spreadWords(reading)}. Problems that training never meets: at 1× drawn as in training, beyond it larger than any there.${endsWords(reading, rows)}`,
  );
}

const linesOf = (reading: Reading, rows: readonly Row[], spreadOf: (cell: Cell) => Spread | undefined): Series[] =>
  rows.map((row) => ({
    name: row.name,
    variantOf: familyOf(row),
    points: reading.multiples.map((k): Point => {
      const x = lengthAt(reading, k);
      const cell = cellAt(row, k);
      const { mean, sd, n } = (cell && spreadOf(cell)) ?? {};
      if (mean === undefined || sd === undefined) return { x, y: undefined };
      return n! > 1 ? { x, y: mean, low: mean - sd, high: mean + sd } : { x, y: mean };
    }),
  }));

function lengthAxis(reading: Reading): CartesianData['x'] {
  const { comparison, multiples, unit, problems } = reading;
  const trained = comparison.suite.training.length;
  const named = (k: number) => (problems ? columnAt(reading, k) : String(lengthAt(reading, k)));
  return {
    label: problems
      ? `problem size (in training ${columnAt(reading, 1)})`
      : `evaluation length (${unit}s, trained on ${trained})`,
    scale: 'log2',
    ticks: multiples.map((k) => ({ value: lengthAt(reading, k), label: `${k}×\n${named(k)}` })),
  };
}

const spreadWords = ({ seeds }: Reading) =>
  seeds > 1 ? `, mean ± standard deviation over ${count(seeds, 'seed')}` : ', one seed';

const endsWords = ({ last }: Reading, rows: readonly Row[]) =>
  rows.some((row) => cellAt(row, last)?.status === 'undefined')
    ? ` A line that stops early belongs to an encoding that is undefined past it.`
    : '';

const references = ({ comparison }: Reading) =>
  comparison.controls.data.map(({ name, loss }) => ({ y: loss, label: name })).filter(({ y }) => Number.isFinite(y));

/**
 * Where to cut the y axis when something explodes: twice as far above the lowest loss as the controls and the losses at the
 * shortest length need. undefined: everything fits.
 */
function ceiling(reading: Reading, series: readonly Series[]): number | undefined {
  const values = series.flatMap((s) => s.points.flatMap((p) => p.high ?? p.y ?? [])).filter(Number.isFinite);
  const ordinary = [
    ...references(reading).map(({ y }) => y),
    ...reading.entries.flatMap((row) => meanAt(row, reading.first) ?? []),
  ];
  if (values.length === 0 || ordinary.length === 0) return undefined;
  const low = Math.min(...values, ...ordinary);
  const span = Math.max(Math.max(...ordinary) - low, 0.3 * Math.abs(low), 1e-6);
  const cap = low + 2 * span;
  return Math.max(...values) > cap ? cap : undefined;
}

export function positionFigures(reading: Reading): Html[] {
  const { comparison, unit } = reading;
  const L = comparison.suite.training.length;
  const figures = lineGroups(reading).map(({ rows, part }, i) => {
    const known = rows.filter((row) => row.positions !== null);
    const series = known.map(
      (row): Series => ({
        name: row.name,
        variantOf: familyOf(row),
        points: binned(row.positions!, L),
      }),
    );
    const longest = Math.max(...known.map((row) => row.positions!.length));
    const cap = ceiling(reading, series);
    const cut = cap !== undefined ? ` The axis is cut at ${reading.loss(cap)}.` : '';
    const auto = known.some((row) => JSON.stringify(row.encoding).includes('"auto"'))
      ? ' What is “auto” in a config is set for that length.'
      : '';
    return lines(
      reading,
      `positions-${i + 1}`,
      {
        title: `Loss by position in the window${part}`,
        x: { label: `position in the window (${unit}s)`, scale: 'log2', ticks: powersOfTwo(longest) },
        y: { label: `loss (nats per ${unit})`, domain: [undefined, cap] },
        series,
        references: references(reading),
        verticals: longest > L ? [{ x: L, label: `training length ${L}` }] : [],
      },
      `Each encoding in non-overlapping windows of the longest length at which it is defined, at most ${count(longest, unit)}; every ${unit} is scored, so early positions have little context. Mean over seeds, in bins of at least four positions.${auto} This is another measure than the table’s, where at k× every target has at least (k − 1) × ${L} ${unit}s before it.${cut}`,
    );
  });
  return drawn(figures);
}

function powersOfTwo(longest: number): number[] {
  const ticks: number[] = [];
  for (let value = 2; value <= longest; value *= 2) ticks.push(value);
  return ticks;
}

export function lossCurveFigure(reading: Reading, curves: readonly LossCurve[]): Html | undefined {
  const { entries, unit, scored, comparison, seeds, problems } = reading;
  const { batchSize, length } = comparison.suite.training;
  const steps = curves.reduce((most, curve) => curve.points.reduce((m, p) => Math.max(m, p.step), most), 0);
  const window = Math.max(1, Math.round(steps / 60));
  const series = entries.map(
    (row): Series => ({
      name: row.name,
      points: smoothed(
        curves.filter((curve) => curve.name === row.name),
        window,
      ),
    }),
  );
  const finite = series.flatMap((s) => s.points).filter((p) => Number.isFinite(p.y));
  if (finite.length === 0) return undefined;
  const early = finite.filter((p) => p.x >= 0.08 * steps).map((p) => p.y!);
  const highest = Math.max(...finite.map((p) => p.y!));
  const wanted = Math.max(median(early), ...references(reading).map(({ y }) => y));
  const cap = Number.isFinite(wanted) && highest > 1.05 * wanted ? 1.05 * wanted : undefined;
  const band =
    seeds > 1 ? ` Line: mean over ${count(seeds, 'seed')}; band: from the lowest to the highest seed.` : ' One seed.';
  const sameBatches = comparison.suite.encodings.some((entry) => entry.training)
    ? ''
    : ' The batches are the same for all encodings of a seed.';
  return lines(
    reading,
    'curves',
    {
      title: 'Training loss',
      x: { label: `step (${batchSize} ${problems ? 'problems' : `× ${length} ${unit}s`} each)` },
      y: { label: `loss (nats per ${scored})`, domain: [undefined, cap] },
      series,
      references: references(reading),
    },
    `Averaged over windows of ${count(window, 'step')}.${band}${sameBatches}${cap !== undefined ? ` The axis is cut at ${reading.loss(cap)}.` : ''}`,
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NEGATIVE_INFINITY;
}

export function costFigure(reading: Reading): Html | undefined {
  const { comparison } = reading;
  const timed = (name: string) =>
    trialsOf(reading, name)
      .map((t) => 1000 * t.timing.medianStepSeconds)
      .filter((ms) => ms > 0);
  const bars = comparison.costs.map(({ name, medianStepSeconds }) => {
    const value = medianStepSeconds > 0 ? 1000 * medianStepSeconds : undefined;
    const times = timed(name);
    return times.length > 1 ? { name, value, low: Math.min(...times), high: Math.max(...times) } : { name, value };
  });
  if (bars.every((bar) => bar.value === undefined)) return undefined;
  const hasBaseline = bars.some((bar) => bar.name === comparison.baseline && bar.value !== undefined);
  const ranges = comparison.suite.seeds.length > 1 ? ' Whiskers: range over seeds.' : '';
  return twice(
    'costs',
    (options) =>
      barChart(
        {
          title: 'Time per training step',
          x: { label: 'milliseconds' },
          bars,
          baseline: hasBaseline ? comparison.baseline : undefined,
        },
        { ...options, names: reading.names },
      ),
    `Median over the steps.${hasBaseline ? ` In brackets: relative to the baseline, ${comparison.baseline}.` : ''}${ranges} Measured while other trials may have been running on the same machine: a hint at the cost, not a benchmark.`,
  );
}

/** undefined: not one loss to draw. */
function lines(reading: Reading, id: string, data: CartesianData, caption: string): Html | undefined {
  if (!data.series.some((s) => s.points.some((p) => Number.isFinite(p.y)))) return undefined;
  return twice(id, (options) => lineChart(data, { ...options, names: reading.names }), caption);
}

/** Text in an SVG shrinks with the picture, so a phone gets a drawing of its own. */
function twice(id: string, draw: (options: FigureOptions) => string, caption: string): Html {
  const wide = draw({ width: 1040, plotHeight: id === 'costs' ? undefined : 380, idPrefix: `${id}-wide` });
  const narrow = draw({ width: 400, plotHeight: id === 'costs' ? undefined : 300, idPrefix: `${id}-narrow` });
  return html`<figure id="${id}">
<div class="wide">${raw(wide)}</div>
<div class="narrow">${raw(narrow)}</div>
<figcaption>${caption}</figcaption>
</figure>
`;
}
