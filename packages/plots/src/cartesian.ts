/** Lines over an x and a y axis: what line charts and step charts share. */
import type { CurveFactory } from 'd3-shape';
import { type Area, axisHeight, makeScale, makeTicks, type Scale, tickRoom, xAxis, yAxis } from './axes.ts';
import type { CartesianData, Reference, ValueAxis, VerticalReference } from './data.ts';
import { check } from './errors.ts';
import { type EndLabel, type LabelPlace, labelColumn } from './labels.ts';
import { crowd, type DrawnSeries, drawSeries, heightOf, prepareSeries } from './line-marks.ts';
import { extent, formatNumber } from './numbers.ts';
import { el, frame, frameWidth, label, px, tooltip } from './svg.ts';
import { fitText, textWidth } from './text.ts';
import { color, type FigureOptions, font, type SeriesStyle, space } from './theme.ts';

interface Labelled extends EndLabel {
  readonly place: (x: Scale, y: Scale, area: Area) => LabelPlace;
}

export function cartesian(
  figure: string,
  kind: string,
  curve: CurveFactory,
  data: CartesianData,
  options: FigureOptions,
): string {
  const where = `${figure} '${data.title}'`;
  const width = frameWidth(where, options);
  const series = prepareSeries(data.series, options);
  const points = series.flatMap((s) => s.points);
  check(points.length > 0, where, 'no series has a finite point; nothing to draw');
  const references = (data.references ?? []).filter((r) => Number.isFinite(r.y));

  const x = makeScale(data.x.scale ?? 'linear', extent(points.map((p) => p.x))!, `${where}, x`);
  const y = makeScale(data.y.scale ?? 'linear', valueDomain(data.y, series, references, where), `${where}, y`);
  const labels = chosenLabels(series, references, data, y);
  const rest = series.length + references.length - labels.length;
  const column = labelColumn(labels, width * 0.36, rest);

  const plotHeight = Math.max(options.plotHeight ?? 320, column.height);
  const wholeY = points.every((p) => Number.isInteger(p.y));
  const yTicks = makeTicks(y, data.y, Math.max(2, Math.round(plotHeight / 55)), wholeY);
  const left = space.edge + tickRoom(yTicks);
  const right = space.edge + column.width;
  const [low, high] = x.domain() as [number, number];
  const verticals = (data.verticals ?? []).filter((v) => v.x >= low && v.x <= high);
  const top = (data.y.label ? 26 : 8) + (verticals.length > 0 ? verticalRoom : 0);
  const area: Area = { left, top, width: width - left - right, height: plotHeight };
  const inset = 10 + Math.max(...series.map((s) => Math.abs(s.shift)));
  x.range([area.left + inset, area.left + area.width - inset]);
  y.range([area.top + area.height - 6, area.top + 6]);
  const wholeX = points.every((p) => Number.isInteger(p.x));
  const xTicks = makeTicks(x, data.x, Math.max(2, Math.round(area.width / 80)), wholeX);

  const yTitle = fitText(data.y.label, width - 2 * space.edge, font.label);
  const window = el('rect', { x: area.left, y: area.top, width: area.width, height: area.height });
  const marks = [
    ...references.map((r) => drawReference(r, y, area)),
    ...verticals.map((v) => drawVertical(v, x, area)),
    ...[...series.filter((s) => s.muted), ...series.filter((s) => !s.muted)].map((s) => drawSeries(s, x, y, curve)),
  ];
  const body = (id: string) =>
    [
      yTitle ? label(yTitle, { x: space.edge, y: font.label, fill: color.faded }) : '',
      yAxis(y, yTicks, area),
      xAxis(x, xTicks, area, { label: data.x.label, width }),
      ...verticalLabels(verticals, x, area, width),
      el('clipPath', { id: `${id}-clip` }, window),
      el('g', { 'clip-path': `url(#${id}-clip)` }, ...marks),
      column.draw(
        area,
        labels.map((l) => l.place(x, y, area)),
      ),
    ].join('');
  const description = describe(kind, data, series, references, verticals);
  const height = area.top + area.height + axisHeight(xTicks, data.x.label);
  return frame({ figure: where, title: data.title, subtitle: data.subtitle, description, options, height, body });
}

/** Data, spreads and references, unless the axis says otherwise. On a log scale a spread reaching below zero is cut. */
function valueDomain(
  axis: ValueAxis,
  series: readonly DrawnSeries[],
  references: readonly Reference[],
  where: string,
): [number, number] {
  const log = (axis.scale ?? 'linear') !== 'linear';
  const values = series.flatMap((s) =>
    s.points.flatMap((p) => [p.y, ...(p.spread ?? []).filter((v) => !log || v > 0)]),
  );
  const [low, high] = extent([...values, ...references.map((r) => r.y)])!;
  const domain: [number, number] = [axis.domain?.[0] ?? low, axis.domain?.[1] ?? high];
  const allowed = axis.domain === undefined || domain[0] < domain[1];
  check(allowed, where, `y.domain [${domain}] shows nothing; give [low, high] with low < high`);
  return domain;
}

/** A label for every line; of a crowd, for some of them from the highest end to the lowest. */
function chosenLabels(
  series: readonly DrawnSeries[],
  references: readonly Reference[],
  data: CartesianData,
  y: Scale,
): Labelled[] {
  const ofSeries = series.map((s) => ({
    name: s.name,
    note: seriesNote(s, data, y),
    style: s.style,
    marker: s.phase !== undefined,
    faded: s.muted,
    place: (x: Scale, y: Scale, area: Area) => seriesPlace(s, x, y, area),
  }));
  const ofReferences = references.slice(0, crowd).map((r) => ({
    name: r.label,
    note: outside(r.y, y),
    style: referenceStyle,
    marker: false,
    faded: true,
    place: (_: Scale, y: Scale, area: Area) => referencePlace(r, y, area),
  }));
  if (series.length <= crowd) return [...ofSeries, ...ofReferences];
  const end = (i: number) => series[i]!.points.at(-1)?.y ?? Number.NEGATIVE_INFINITY;
  const ranked = series.map((_, i) => i).sort((a, b) => end(b) - end(a) || a - b);
  const picked = Array.from(
    { length: crowd - 1 },
    (_, k) => ranked[Math.round((k * (ranked.length - 1)) / (crowd - 2))]!,
  );
  return [...picked.map((i) => ofSeries[i]!), ...ofReferences];
}

/** Where the line left the frame, or after which x its values are missing although asked for (past a learned table). */
function seriesNote(s: DrawnSeries, data: CartesianData, y: Scale): string | undefined {
  const last = s.points.at(-1);
  if (!last) return '(no value)';
  if (!s.endsEarly) return outside(last.y, y);
  const tick = data.x.ticks?.find((t) => typeof t !== 'number' && t.value === last.x);
  const x = typeof tick === 'object' ? tick.label.split('\n')[0] : formatNumber(last.x, 4);
  return `(no value past ${x})`;
}

/** '↑ 6.02' for a value above the axis's end. */
function outside(value: number, scale: Scale): string | undefined {
  const [low, high] = scale.domain() as [number, number];
  if (value > high) return `↑ ${formatNumber(value)}`;
  return value < low ? `↓ ${formatNumber(value)}` : undefined;
}

function seriesPlace(s: DrawnSeries, x: Scale, y: Scale, area: Area): LabelPlace {
  const last = s.points.at(-1);
  if (!last) return { y: area.top + area.height };
  const height = heightOf(last.y, y);
  const end = within(height, area);
  const reaches = x(last.x) > x.range()[1]! - 20 && end === height;
  return { y: end, from: reaches ? { x: x(last.x) + s.shift, y: end } : undefined };
}

function referencePlace(reference: Reference, y: Scale, area: Area): LabelPlace {
  const height = heightOf(reference.y, y);
  const end = within(height, area);
  return { y: end, from: end === height ? { x: area.left + area.width, y: end } : undefined };
}

const within = (y: number, area: Area) => Math.min(area.top + area.height, Math.max(area.top, y));

const referenceStyle: SeriesStyle = { color: color.faded, dash: '2 2', marker: '', width: 1.2 };

function drawReference(reference: Reference, y: Scale, area: Area): string {
  const { color: stroke, dash, width } = referenceStyle;
  const d = `M${px(area.left)},${px(heightOf(reference.y, y))}h${px(area.width)}`;
  return el('path', { d, stroke, 'stroke-width': width, 'stroke-dasharray': dash });
}

function drawVertical(vertical: VerticalReference, x: Scale, area: Area): string {
  const { color: stroke, dash, width } = referenceStyle;
  const d = `M${px(x(vertical.x))},${px(area.top)}v${px(area.height)}`;
  return el('path', { d, stroke, 'stroke-width': width, 'stroke-dasharray': dash }, tooltip(vertical.label));
}

/** Height of the row above the plotting area in which vertical lines are named. */
const verticalRoom = 14;

/** From left to right; a name that would run into the one before it is left to the tooltip. */
function verticalLabels(verticals: readonly VerticalReference[], x: Scale, area: Area, width: number): string[] {
  let free = 4;
  return [...verticals]
    .sort((a, b) => a.x - b.x)
    .map((v) => {
      const text = fitText(v.label, width / 3, font.tick);
      const half = textWidth(text, font.tick) / 2;
      const centre = Math.min(Math.max(x(v.x), half + 4), width - half - 4);
      if (centre - half < free) return '';
      free = centre + half + 6;
      return label(text, {
        x: centre,
        y: area.top - 5,
        'text-anchor': 'middle',
        'font-size': font.tick,
        fill: color.faded,
      });
    });
}

function describe(
  kind: string,
  data: CartesianData,
  series: readonly DrawnSeries[],
  references: readonly Reference[],
  verticals: readonly VerticalReference[],
): string {
  const at = (p: { x: number; y: number }) => `${formatNumber(p.y, 4)} at ${formatNumber(p.x, 6)}`;
  const named = series.slice(0, crowd).map(({ name, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (!first || !last) return `${name}: no value`;
    return first === last ? `${name}: ${at(first)}` : `${name}: ${at(first)}, ${at(last)}`;
  });
  const rest = series.length > crowd ? [`and ${series.length - crowd} more series`] : [];
  const fixed = references.map((r) => `reference ${r.label}: ${formatNumber(r.y, 4)}`);
  const upright = verticals.map((v) => `vertical line ${v.label} at ${formatNumber(v.x, 6)}`);
  return `${kind} of ${data.y.label || 'values'} over ${data.x.label || 'x'}. ${[...named, ...rest, ...fixed, ...upright].join('; ')}.`;
}
