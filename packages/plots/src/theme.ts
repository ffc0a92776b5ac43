/** Everything that makes the figures look alike: sizes in px, colours, and one style per series. */
import {
  type SymbolType,
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
  symbolWye,
} from 'd3-shape';

/** What every figure accepts beside its data. */
export interface FigureOptions {
  /** Width of the picture in px, at least 360; default 720. The SVG still shrinks to its container. */
  readonly width?: number;
  /** Height of the plotting area in px, without title, axes and labels; the default suits the figure. */
  readonly plotHeight?: number;
  /** Start of every id in the SVG; default: a hash of the picture, so that different figures never clash in one page. */
  readonly idPrefix?: string;
  /** Text for screen readers; default: a summary of the data. */
  readonly description?: string;
  /** Every series name of a report in one order: a series then keeps its colour and marker in all its figures. */
  readonly names?: readonly string[];
}

export const font = {
  family: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
  title: 16,
  subtitle: 12.5,
  label: 12,
  tick: 11,
} as const;

export const space = { edge: 16, width: 720, minWidth: 360, gap: 8, line: 1.3 } as const;

export const color = {
  background: '#ffffff',
  ink: '#1f2328',
  faded: '#59636e',
  axis: '#8c959f',
  grid: '#e6e8eb',
  muted: '#8a8f96',
  missing: '#d0d4d9',
  shade: '#eef3f8',
} as const;

/** Okabe & Ito 2008, https://jfly.uni-koeln.de/color/, without its yellow (unreadable on white), with a wine red from Paul Tol's sets. */
const palette = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#333333', '#882255'] as const;

const symbols: readonly SymbolType[] = [
  symbolCircle,
  symbolSquare,
  symbolTriangle,
  symbolDiamond,
  symbolCross,
  symbolStar,
  symbolWye,
  symbolTriangle,
];

/** Past the palette's end colours repeat and dashes tell the rounds apart. */
const dashes = [undefined, '7 3', '2 3'] as const;

/** How the n-th series is drawn, the same in every figure. */
export interface SeriesStyle {
  readonly color: string;
  /** stroke-dasharray; undefined: solid. */
  readonly dash: string | undefined;
  /** Path of the marker around (0, 0): a shape per colour, so that the figure also reads in greyscale. */
  readonly marker: string;
  readonly width: number;
}

export interface StyleOptions {
  readonly names?: readonly string[];
  readonly dashed?: boolean;
  readonly muted?: boolean;
  readonly variantOf?: string;
}

/**
 * The style of series `name`, the `index`-th of its figure; `names` (see FigureOptions) wins over `index`. A variant of a
 * series in `names` is dashed in that one's colour, with another marker.
 */
export function styleOf(name: string, index: number, options: StyleOptions = {}): SeriesStyle {
  const { names = [], muted = false, variantOf } = options;
  const listed = names.indexOf(name);
  const place = listed >= 0 ? listed : names.length + index;
  const family = variantOf === undefined ? -1 : names.indexOf(variantOf);
  const shade = (family >= 0 ? family : place) % palette.length;
  // Never the family's own marker, nor that of the variants next in `names`.
  const shape = family >= 0 ? (shade + 1 + (place % (symbols.length - 1))) % symbols.length : shade;
  const turn = Math.min(Math.floor(place / palette.length), dashes.length - 1);
  return {
    color: muted ? color.muted : palette[shade]!,
    dash: options.dashed || family >= 0 ? '5 3' : dashes[turn],
    marker: markerPath(shape, muted ? 26 : 40),
    width: muted ? 1.25 : 1.9,
  };
}

/** The eighth shape is the third upside down. `size` is the area in px². */
function markerPath(slot: number, size: number): string {
  const path = symbol(symbols[slot]!, size).digits(2)() ?? '';
  return slot === 7 ? path.replace(/,(-?[\d.]+)/g, (_, y: string) => `,${-Number(y)}`) : path;
}
