import { type Area, axisHeight, makeScale, makeTicks, xAxis } from './axes.ts';
import { check } from './errors.ts';
import { extent, formatNumber } from './numbers.ts';
import { el, frame, frameWidth, label, lines, px, tooltip, widest } from './svg.ts';
import { wrapText } from './text.ts';
import { color, type FigureOptions, font, space, styleOf } from './theme.ts';

/** One bar, with its spread if there is one. */
export interface Bar {
  readonly name: string;
  /** undefined, null or not finite: the bar's place says "undefined". */
  readonly value: number | null | undefined;
  readonly low?: number | null;
  readonly high?: number | null;
}

/** A chart of one number per name. */
export interface BarChartData {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: { readonly label: string };
  readonly bars: readonly Bar[];
  /** Name of the bar that the others are compared with: a line at its value, and ratios ("1.4×") in the value labels. */
  readonly baseline?: string;
}

const maxBars = 200;
const inset = 4;
/** Keeps text legible over grid and reference lines. */
const seam = { stroke: color.background, 'stroke-width': 3, 'paint-order': 'stroke' };

/**
 * Horizontal bars from zero with their values: cost per encoding, parameters. One row per bar in the given order.
 *
 * @returns a self-contained SVG document
 * @throws FigureError if no value is finite, there are more than 200 bars, or `baseline` names none of them
 */
export function barChart(data: BarChartData, options: FigureOptions = {}): string {
  const where = `barChart '${data.title}'`;
  const width = frameWidth(where, options);
  const { bars } = data;
  const finite = bars.filter((b): b is Bar & { value: number } => isNumber(b.value));
  check(finite.length > 0, where, 'no bar has a finite value; nothing to draw');
  check(bars.length <= maxBars, where, `${bars.length} bars are more than ${maxBars}; draw several figures`);
  const baseline = finite.find((b) => b.name === data.baseline);
  const names = finite.map((b) => b.name).join(', ');
  check(
    data.baseline === undefined || baseline !== undefined,
    where,
    `baseline '${data.baseline}' is no bar with a value; those are ${names}`,
  );

  const labels = bars.map((b) => wrapText(b.name, width * 0.32, font.label, 2));
  const values = bars.map((b) => valueText(b, baseline));
  const left = space.edge + widest(labels.flat(), font.label) + space.gap;
  const room = widest(values, font.label) + 2 * space.gap;
  const rowLines = Math.max(...labels.map((content) => content.length));
  const leastRow = rowLines > 1 ? 36 : 18;
  const row = Math.max(leastRow, (options.plotHeight ?? Math.max(90, bars.length * (leastRow + 9))) / bars.length);
  const area: Area = { left, top: 4, width: width - space.edge - left, height: row * bars.length };

  const ends = extent(bars.flatMap((b) => [0, b.value ?? 0, ...(spreadOf(b) ?? [])]))!;
  const x = makeScale('linear', ends[0] === ends[1] ? [0, 1] : ends, `${where}, x`);
  x.range([area.left + (ends[0] < 0 ? room : inset), area.left + area.width - room]);
  const ticks = makeTicks(x, data.x, Math.max(2, Math.round((x.range()[1]! - x.range()[0]!) / 80)));

  const zero = x(0);
  const rows = bars.map((bar, i) => {
    const style = styleOf(bar.name, i, { names: options.names });
    const middle = area.top + (i + 0.5) * row;
    const first = middle - ((labels[i]!.length - 1) * font.label * space.line) / 2 + font.label * 0.35;
    const name = lines(labels[i]!, area.left - space.gap, first, font.label, { 'text-anchor': 'end' });
    if (!isNumber(bar.value)) {
      return el(
        'g',
        {},
        name,
        label('undefined', {
          x: zero + space.gap,
          y: middle + font.label * 0.35,
          ...seam,
          fill: color.faded,
          'font-style': 'italic',
        }),
      );
    }
    const end = x(bar.value);
    const thick = Math.min(22, row * 0.62);
    const spread = spreadOf(bar)?.map((v) => x(v));
    const rightward = bar.value >= 0;
    const edge = rightward ? Math.max(end, ...(spread ?? [])) : Math.min(end, ...(spread ?? []));
    return el(
      'g',
      {},
      tooltip(`${bar.name}: ${values[i]}`),
      name,
      el('rect', {
        x: Math.min(zero, end),
        y: middle - thick / 2,
        width: Math.abs(end - zero),
        height: thick,
        fill: style.color,
      }),
      spread ? whisker(middle, spread[0]!, spread[1]!) : '',
      label(values[i]!, {
        x: edge + (rightward ? 6 : -6),
        y: middle + font.label * 0.35,
        'text-anchor': rightward ? undefined : 'end',
        ...seam,
      }),
    );
  });
  const reference = baseline
    ? el('path', {
        d: `M${px(x(baseline.value))},${px(area.top)}v${px(area.height)}`,
        stroke: color.faded,
        'stroke-dasharray': '2 2',
      })
    : '';
  const axis = el('path', { d: `M${px(zero)},${px(area.top)}v${px(area.height)}`, stroke: color.axis });
  const body = () =>
    [xAxis(x, ticks, area, { label: data.x.label, width, grid: true }), reference, ...rows, axis].join('');
  const description = `Bar chart of ${data.x.label || 'values'}. ${bars.map((b, i) => `${b.name}: ${values[i]}`).join('; ')}.`;
  const height = area.top + area.height + axisHeight(ticks, data.x.label);
  return frame({ figure: where, title: data.title, subtitle: data.subtitle, description, options, height, body });
}

function valueText({ name, value }: Bar, baseline: (Bar & { value: number }) | undefined): string {
  if (!isNumber(value)) return 'undefined';
  if (!baseline || value / baseline.value <= 0 || !Number.isFinite(value / baseline.value) || name === baseline.name)
    return formatNumber(value);
  return `${formatNumber(value)} (${formatNumber(value / baseline.value)}×)`;
}

const isNumber = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value);
const spreadOf = ({ value, low, high }: Bar) =>
  isNumber(value) && isNumber(low) && isNumber(high) ? ([low, high] as const) : undefined;

/** With a white seam, so that it is seen on a dark bar. */
function whisker(y: number, x1: number, x2: number): string {
  const d = `M${px(x1)},${px(y - 4)}v8M${px(x1)},${px(y)}H${px(x2)}M${px(x2)},${px(y - 4)}v8`;
  return (
    el('path', { d, stroke: color.background, 'stroke-width': 3, fill: 'none' }) +
    el('path', { d, stroke: color.ink, 'stroke-width': 1.1, fill: 'none' })
  );
}
