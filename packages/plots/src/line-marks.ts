/** One series on a plotting area: spreads, line, markers. */
import { area as bandPath, type CurveFactory, line as linePath } from 'd3-shape';
import type { Scale } from './axes.ts';
import type { Series } from './data.ts';
import { formatNumber } from './numbers.ts';
import { type DrawnPoint, runs, thin } from './series.ts';
import { el, px, tooltip } from './svg.ts';
import { color, type FigureOptions, type SeriesStyle, styleOf } from './theme.ts';

export interface DrawnSeries {
  readonly name: string;
  readonly muted: boolean;
  readonly style: SeriesStyle;
  readonly runs: readonly (readonly DrawnPoint[])[];
  /** All points of the runs. */
  readonly points: readonly DrawnPoint[];
  /** The last points given have no value. */
  readonly endsEarly: boolean;
  /** A marker at each point and spreads as error bars, instead of some markers and a band. */
  readonly few: boolean;
  /** Shift in px that keeps the error bars of several series apart. */
  readonly shift: number;
  /** Markers stand this share of their distance further right than the first series' ones; undefined: none. */
  readonly phase: number | undefined;
}

const fewPoints = 16;
const longSeries = 64;
/** Of more lines than this nobody can tell the markers apart: thin lines alone show their common shape. */
export const crowd = 26;

export function prepareSeries(series: readonly Series[], { names }: FigureOptions): DrawnSeries[] {
  const crowded = series.length > crowd;
  const drawn = series.map(({ name, points, dashed, muted = false, variantOf }, index) => {
    const stretches = runs(points);
    const all = stretches.flat();
    const style = styleOf(name, index, { names, dashed, muted, variantOf });
    const width = crowded ? 0.9 : all.length > longSeries ? Math.min(1.5, style.width) : style.width;
    return {
      name,
      muted,
      style: { ...style, width, dash: crowded ? undefined : style.dash },
      runs: stretches,
      points: all,
      endsEarly: !Number.isFinite(points.at(-1)?.y),
      few: all.length <= fewPoints,
      phase: crowded ? undefined : (index + 0.5) / series.length,
    };
  });
  const barred = drawn.filter((s) => s.few && s.points.some((p) => p.spread));
  const step = Math.min(3.5, 24 / barred.length);
  return drawn.map((s) => {
    const place = barred.indexOf(s);
    return { ...s, shift: place < 0 ? 0 : (place - (barred.length - 1) / 2) * step };
  });
}

/** y(value), far outside the frame at most: a log scale cannot place zero, and renderers cannot draw 1e12 px. */
export function heightOf(value: number, y: Scale): number {
  const [bottom, top] = y.range() as [number, number];
  const height = y(value);
  return Number.isNaN(height) ? bottom + 1000 : Math.min(bottom + 1000, Math.max(top - 1000, height));
}

export function drawSeries(s: DrawnSeries, x: Scale, y: Scale, curve: CurveFactory): string {
  const atX = (p: DrawnPoint) => x(p.x) + s.shift;
  const atY = (value: number) => heightOf(value, y);
  const stretches = s.runs.map((run) => (run.length > longSeries ? thin(run, (v) => x(v)) : [...run]));
  const stroke = { fill: 'none', stroke: s.style.color };

  const bar = (p: DrawnPoint) => {
    if (!p.spread) return '';
    const [at, low, high] = [px(atX(p)), px(atY(p.spread[0])), px(atY(p.spread[1]))];
    const cap = px(atX(p) - 3);
    return el('path', { d: `M${cap},${low}h6M${at},${low}V${high}M${cap},${high}h6`, ...stroke, 'stroke-width': 1.1 });
  };
  const band = bandPath<DrawnPoint>(
    atX,
    (p) => atY(p.spread?.[0] ?? p.y),
    (p) => atY(p.spread?.[1] ?? p.y),
  )
    .defined((p) => p.spread !== undefined)
    .curve(curve)
    .digits(1);
  const spreads = stretches.flatMap((run) => {
    if (s.few) return run.map(bar);
    const d = band(run);
    return d ? [el('path', { d, fill: s.style.color, 'fill-opacity': 0.14 })] : [];
  });

  const path = linePath<DrawnPoint>(atX, (p) => atY(p.y))
    .curve(curve)
    .digits(1);
  const strokes = stretches
    .filter((run) => run.length > 1)
    .map((run) =>
      el('path', {
        d: path(run) ?? '',
        ...stroke,
        'stroke-width': s.style.width,
        'stroke-dasharray': s.style.dash,
        'stroke-linejoin': 'round',
      }),
    );

  const alone = s.runs.filter((run) => run.length === 1).map((run) => run[0]!);
  const marked = new Set([...(s.few ? s.points : sparse(s, x)), ...alone]);
  const dots = [...marked].map((p) => {
    const place = { d: s.style.marker, transform: `translate(${px(atX(p))},${px(atY(p.y))})` };
    if (!s.few) return el('path', place);
    return el('path', place, tooltip(`${s.name}: ${formatNumber(p.y, 4)} at ${formatNumber(p.x, 6)}`));
  });
  const seam = { fill: s.style.color, stroke: color.background, 'stroke-width': 0.7 };
  return el('g', {}, tooltip(s.name), ...spreads, ...strokes, dots.length > 0 ? el('g', seam, ...dots) : '');
}

/** About six points at even distances on the screen, between those of the neighbouring series so that they do not pile up. */
function sparse({ points, phase }: DrawnSeries, x: Scale): DrawnPoint[] {
  if (phase === undefined) return [];
  const count = 6;
  const [left, right] = x.range() as [number, number];
  return Array.from({ length: count }, (_, k) => {
    const wanted = left + ((k + phase) / count) * (right - left);
    return points.reduce(
      (best, p) => (Math.abs(x(p.x) - wanted) < Math.abs(x(best.x) - wanted) ? p : best),
      points[0]!,
    );
  });
}
