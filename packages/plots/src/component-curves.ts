import { line as linePath } from 'd3-shape';
import { type Area, axisHeight, makeScale, makeTicks, xAxis } from './axes.ts';
import { check } from './errors.ts';
import { extent, formatNumber } from './numbers.ts';
import { thin } from './series.ts';
import { el, frame, frameWidth, label, px, tooltip } from './svg.ts';
import { fitText, textWidth } from './text.ts';
import { color, type FigureOptions, font, space, styleOf } from './theme.ts';

/** One wave of an encoding: a channel or a pair, over positions. */
export interface Component {
  readonly name: string;
  /** In positions; Infinity for a component that stands still. */
  readonly wavelength: number;
  /** One value per position. */
  readonly values: ArrayLike<number>;
}

/** Waves, one above the other, over the same positions. */
export interface ComponentCurvesData {
  readonly title: string;
  readonly subtitle?: string;
  readonly positions: ArrayLike<number>;
  readonly components: readonly Component[];
}

const maxComponents = 64;

/**
 * Small multiples of sinusoid components, one row each over a shared position axis and a shared height scale. The tinted strip
 * is one wavelength from the left edge, its number stands on the right, the longest in bold.
 *
 * @returns a self-contained SVG document
 * @throws FigureError if there is no finite value, lengths differ, or there are more than 64 components
 */
export function componentCurves(data: ComponentCurvesData, options: FigureOptions = {}): string {
  const where = `componentCurves '${data.title}'`;
  const width = frameWidth(where, options);
  const { components } = data;
  const positions = Array.from(data.positions);
  check(
    components.length <= maxComponents,
    where,
    `${components.length} components are more than ${maxComponents}; choose some of them`,
  );
  for (const { name, values, wavelength } of components) {
    check(
      values.length === positions.length,
      where,
      `component '${name}' has ${values.length} values for ${positions.length} positions`,
    );
    check(wavelength > 0, where, `component '${name}' has wavelength ${wavelength}; it must be above zero`);
  }
  const curves = components.map((c) =>
    Array.from(c.values, (y, i) => ({ x: positions[i]!, y })).filter(
      (p) => Number.isFinite(p.x) && Number.isFinite(p.y),
    ),
  );
  const xDomain = extent(curves.flatMap((c) => c.map((p) => p.x)));
  const yDomain = extent(curves.flatMap((c) => c.map((p) => p.y)));
  check(xDomain !== undefined && yDomain !== undefined, where, 'no component has a finite value; nothing to draw');

  const longest = Math.max(...components.map((c) => c.wavelength));
  const waves = components.map((c) => (Number.isFinite(c.wavelength) ? formatNumber(c.wavelength, 4) : '∞'));
  const names = components.map((c) => fitText(c.name, width * 0.25, font.label, true));
  const heading = 'wavelength (positions)';
  const left = space.edge + Math.max(...names.map((n) => textWidth(n, font.label, true))) + 12;
  const right = space.edge + Math.max(56, ...waves.map((w) => textWidth(w, font.label, true))) + 12;
  const row = Math.max(
    18,
    (options.plotHeight ?? Math.min(560, Math.max(120, components.length * 52))) / components.length,
  );
  const area: Area = { left, top: 24, width: width - left - right, height: row * components.length };
  const x = makeScale('linear', xDomain, `${where}, positions`).range([area.left, area.left + area.width]);
  const y = makeScale('linear', yDomain, `${where}, values`).range([row * 0.9, row * 0.1]);
  const ticks = makeTicks(x, { label: '' }, Math.max(2, Math.round(area.width / 80)));
  const [first, last] = x.domain() as [number, number];
  const path = linePath<{ x: number; y: number }>(
    (p) => x(p.x),
    (p) => y(p.y),
  ).digits(1);

  const panels = components.map((c, i) => {
    const top = area.top + i * row;
    const isLongest = c.wavelength === longest;
    const { color: stroke } = styleOf('', 0);
    const end = Math.min(first + c.wavelength, last);
    const base = row / 2 + font.label * 0.35;
    const heavy = isLongest ? { 'font-weight': 700 } : {};
    const curve = thin(curves[i]!, x);
    return el(
      'g',
      { transform: `translate(0,${px(top)})` },
      tooltip(`${c.name}: wavelength ${waves[i]} positions`),
      el('rect', { x: area.left, y: row * 0.06, width: x(end) - area.left, height: row * 0.88, fill: color.shade }),
      el('path', { d: `M${px(area.left)},${px(row / 2)}h${px(area.width)}`, stroke: color.grid }),
      curve.length === 1
        ? el('circle', { cx: x(curve[0]!.x), cy: y(curve[0]!.y), r: 3, fill: stroke })
        : el('path', { d: path(curve) ?? '', fill: 'none', stroke, 'stroke-width': 1.4 }),
      label(names[i]!, { x: area.left - 12, y: base, 'text-anchor': 'end', ...heavy }),
      label(waves[i]!, { x: width - space.edge, y: base, 'text-anchor': 'end', ...heavy }),
    );
  });
  const body = () =>
    [
      label(heading, { x: width - space.edge, y: 14, 'text-anchor': 'end', fill: color.faded }),
      ...panels,
      xAxis(x, ticks, area, { label: 'position', width }),
    ].join('');
  const description = `Component curves over positions ${formatNumber(first, 6)} to ${formatNumber(last, 6)}. ${components
    .map((c, i) => `${c.name}: wavelength ${waves[i]}`)
    .join('; ')}.`;
  const height = area.top + area.height + axisHeight(ticks, 'position');
  return frame({ figure: where, title: data.title, subtitle: data.subtitle, description, options, height, body });
}
