import { scaleLinear } from 'd3-scale';
import { interpolateRdBu, interpolateViridis } from 'd3-scale-chromatic';
import { axisHeight, type LabelledTick, makeScale, makeTicks, type Scale, xAxis } from './axes.ts';
import { check } from './errors.ts';
import { extent, formatNumber, integerTicks } from './numbers.ts';
import { pngDataUri } from './png.ts';
import { el, frame, frameWidth, label, px, widest } from './svg.ts';
import { fitText } from './text.ts';
import { color, type FigureOptions, font, space } from './theme.ts';

/** Rows or columns, counted. */
export interface GridAxis {
  readonly label: string;
  /** Number of the first row or column, default 0. */
  readonly start?: number;
}

/** A matrix as colours. */
export interface HeatmapData {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: GridAxis;
  readonly y: GridAxis;
  readonly rows: number;
  readonly cols: number;
  /** Row-major, rows × cols; the first row is drawn on top. Values that are not finite are grey. */
  readonly data: ArrayLike<number>;
  /** diverging: red below zero, white, blue above (RdBu). sequential: viridis. Both survive colour blindness. */
  readonly colorScale: 'diverging' | 'sequential';
  /** Values at the ends of the colour scale, beyond which colours saturate; default: ±max |v|, or least and greatest value. */
  readonly domain?: readonly [number, number];
  /** What the colours mean, above the colour bar. */
  readonly valueLabel?: string;
}

/** More cells than this each way are sampled evenly: no screen shows them, and the file stays below 300 kB. */
const maxCells = 512;
const missing = 255;
const shades = 255;

/**
 * A grid of numbers as colours: rows downward, columns across. RoPE's cos(p·θ_i) has positions downward, pairs across.
 *
 * @returns a self-contained SVG document; the cells are one embedded PNG
 * @throws FigureError if sizes and data disagree, nothing is finite, or `domain` is not [low, high]
 */
export function heatmap(data: HeatmapData, options: FigureOptions = {}): string {
  const where = `heatmap '${data.title}'`;
  const width = frameWidth(where, options);
  const { rows, cols } = data;
  const whole = Number.isInteger(rows) && Number.isInteger(cols) && rows > 0 && cols > 0;
  check(
    whole && data.data.length === rows * cols,
    where,
    `${data.data.length} values do not fill ${rows} rows × ${cols} columns`,
  );
  const found = extent(Array.from(data.data));
  check(found !== undefined, where, 'no value is finite; nothing to draw');
  const [low, high] = colourDomain(data, found, where);

  const ramp = palette(data.colorScale);
  const rowStep = Math.ceil(rows / maxCells);
  const colStep = Math.ceil(cols / maxCells);
  const image = paint(data, rowStep, colStep, (v) => Math.round(((v - low) / (high - low)) * (shades - 1)), ramp);
  const bar = pngDataUri(
    1,
    shades,
    Uint8Array.from({ length: shades }, (_, i) => shades - 1 - i),
    ramp,
  );

  const height = options.plotHeight ?? Math.min(420, Math.max(120, rows * 24));
  const yTicks = indexTicks(data.y, rows, Math.min(rows, Math.floor(height / 30)));
  const barScale = makeScale('linear', [low, high], `${where}, colours`);
  const barTicks = makeTicks(barScale, { label: '' }, 5);
  const left =
    space.edge +
    widest(
      yTicks.map((t) => t.label),
      font.tick,
    ) +
    space.gap;
  const barRoom =
    22 +
    12 +
    space.gap +
    widest(
      barTicks.map((t) => t.label),
      font.tick,
    ) +
    space.edge;
  const area = { left, top: 26, width: Math.min(width - left - barRoom, cols * 60), height };

  const x = centred(area.left, area.width, cols, data.x.start);
  const y = centred(area.top, area.height, rows, data.y.start);
  const xTicks = indexTicks(data.x, cols, Math.min(cols, Math.floor(area.width / 50)));
  const barLeft = area.left + area.width + 22;
  const barTop = barScale.range([area.top + area.height, area.top]);
  const half = width / 2 - space.edge;
  const body = () =>
    [
      data.y.label
        ? label(fitText(`${data.y.label} ↓`, half, font.label), { x: space.edge, y: 14, fill: color.faded })
        : '',
      data.valueLabel
        ? label(fitText(data.valueLabel, half, font.label), {
            x: Math.max(barLeft + 12, width / 2 + half * 0.2),
            y: 14,
            'text-anchor': 'end',
            fill: color.faded,
          })
        : '',
      picture(image, area.left, area.top, area.width, area.height),
      ...yTicks.map((t) => sideTick(t, y, area.left - 4, -1)),
      xAxis(x, xTicks, area, { label: data.x.label ? `${data.x.label} →` : '', width }),
      picture(bar, barLeft, area.top, 12, area.height),
      ...barTicks.map((t) => sideTick(t, barTop, barLeft + 12, 1)),
    ].join('');
  const description =
    `Heatmap of ${rows} × ${cols} values from ${formatNumber(found[0])} to ${formatNumber(found[1])}: ` +
    `${data.y.label || 'rows'} downward, ${data.x.label || 'columns'} across.`;
  const sampled =
    rowStep * colStep > 1 ? `Drawn: every ${ordinal(rowStep)} row, every ${ordinal(colStep)} column.` : '';
  const subtitle = [data.subtitle, sampled].filter(Boolean).join(' · ');
  const total = area.top + area.height + axisHeight(xTicks, data.x.label);
  return frame({ figure: where, title: data.title, subtitle, description, options, height: total, body });
}

/** The given one, or the data's with round ends. */
function colourDomain(
  { colorScale, domain }: HeatmapData,
  [low, high]: readonly [number, number],
  where: string,
): [number, number] {
  if (domain) {
    const [from, to] = domain;
    check(Number.isFinite(to - from) && from < to, where, `domain [${from}, ${to}] is not [low, high] with low < high`);
    return [from, to];
  }
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const wanted: [number, number] = colorScale === 'diverging' ? [-reach, reach] : [low, high];
  return makeScale('linear', wanted, where).nice(5).domain() as [number, number];
}

function palette(kind: HeatmapData['colorScale']): number[][] {
  const at = kind === 'diverging' ? interpolateRdBu : interpolateViridis;
  return [...Array.from({ length: shades }, (_, i) => rgb(at(i / (shades - 1)))), rgb(color.missing)];
}

/** d3's ramps answer 'rgb(r, g, b)' or '#rrggbb'. */
function rgb(css: string): number[] {
  if (css.startsWith('#')) return [1, 3, 5].map((i) => Number.parseInt(css.slice(i, i + 2), 16));
  return (css.match(/\d+/g) ?? []).slice(0, 3).map(Number);
}

function paint(
  { rows, cols, data }: HeatmapData,
  rowStep: number,
  colStep: number,
  shade: (v: number) => number,
  ramp: number[][],
): string {
  const [height, width] = [Math.ceil(rows / rowStep), Math.ceil(cols / colStep)];
  const pixels = new Uint8Array(width * height);
  for (let r = 0; r < height; r++) {
    for (let c = 0; c < width; c++) {
      const value = data[r * rowStep * cols + c * colStep]!;
      pixels[r * width + c] = Number.isFinite(value) ? Math.min(shades - 1, Math.max(0, shade(value))) : missing;
    }
  }
  return pngDataUri(width, height, pixels, ramp);
}

/** Cells stay sharp: the word browsers know first, then that of SVG 1.1 renderers. */
const picture = (href: string, x: number, y: number, width: number, height: number) =>
  el('image', {
    href,
    x,
    y,
    width,
    height,
    preserveAspectRatio: 'none',
    style: 'image-rendering:pixelated;image-rendering:optimizeSpeed',
  });

/** Maps an index to the middle of its cell. */
function centred(from: number, length: number, count: number, start = 0): Scale {
  return scaleLinear([start - 0.5, start + count - 0.5], [from, from + length]);
}

const indexTicks = ({ start = 0 }: GridAxis, count: number, most: number): LabelledTick[] =>
  integerTicks(start, start + count - 1, most).map((value) => ({ value, label: String(value).replace('-', '−') }));

/** A tick with its label, to the left (-1) or right (1) of x. */
function sideTick(tick: LabelledTick, scale: Scale, x: number, side: 1 | -1): string {
  const y = scale(tick.value);
  const at = { x: x + side * 6, y: y + font.tick * 0.35, 'font-size': font.tick, fill: color.faded };
  const mark = el('path', { d: `M${px(x)},${px(y)}h${px(side * 4)}`, stroke: color.axis });
  return mark + label(tick.label, { ...at, 'text-anchor': side < 0 ? 'end' : undefined });
}

const ordinal = (n: number) => (n === 1 ? '' : n === 2 ? '2nd' : n === 3 ? '3rd' : `${n}th`);
