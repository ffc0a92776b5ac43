import { interpolateViridis } from 'd3-scale-chromatic';
import { check } from './errors.ts';
import { formatNumber } from './numbers.ts';
import { el, frame, frameWidth, label, lines, px, tooltip } from './svg.ts';
import { textWidth, wrapText } from './text.ts';
import { color, type FigureOptions, font, space } from './theme.ts';

/** A pair of channels that turns with the position. */
export interface CirclePair {
  readonly name: string;
  /** Angle in radians of positions 0, 1, 2 … (counter-clockwise from the right). */
  readonly angles: ArrayLike<number>;
}

/** Positions as points on a circle, a circle for each pair. */
export interface UnitCircleData {
  readonly title: string;
  readonly subtitle?: string;
  readonly pairs: readonly CirclePair[];
  /** Number of the first position, default 0. */
  readonly start?: number;
}

const maxPairs = 24;
const maxPositions = 256;
const fullTurn = 2 * Math.PI;

/**
 * Where successive positions lie on the unit circle, one circle per rotated pair: colour runs from dark (first) to light (last),
 * numbers are positions, the arrow inside shows the direction and length of the first step.
 *
 * @returns a self-contained SVG document
 * @throws FigureError if there is no finite angle, more than 24 pairs or more than 256 positions
 */
export function unitCircle(data: UnitCircleData, options: FigureOptions = {}): string {
  const where = `unitCircle '${data.title}'`;
  const width = frameWidth(where, options);
  const { pairs, start = 0 } = data;
  const angles = pairs.map((pair) => Array.from(pair.angles));
  check(
    angles.some((a) => a.some(Number.isFinite)),
    where,
    'no pair has a finite angle; nothing to draw',
  );
  check(
    pairs.length <= maxPairs,
    where,
    `${pairs.length} pairs are more than ${maxPairs}; choose a fast, a middle and a slow one`,
  );

  const count = Math.max(...angles.map((a) => a.length));
  check(count <= maxPositions, where, `${count} positions are more than ${maxPositions}; choose some of them`);

  const across = Math.min(pairs.length, Math.max(1, Math.floor((width - 2 * space.edge) / 200)));
  const cell = (width - 2 * space.edge) / across;
  const side = Math.min(cell, options.plotHeight ?? 240);
  const radius = side / 2 - 30;
  const names = pairs.map((pair) => wrapText(pair.name, cell - 12, font.label, 2, true));
  const nameLines = Math.max(...names.map((n) => n.length));
  const lineHeight = font.label * space.line;
  const caption = (nameLines + 2) * lineHeight + space.gap;
  const rows = Math.ceil(pairs.length / across);
  const panels = pairs.map((pair, i) => {
    const x = space.edge + (i % across) * cell + cell / 2;
    const y = Math.floor(i / across) * (side + caption) + side / 2;
    return el(
      'g',
      { transform: `translate(${px(x)},${px(y)})` },
      tooltip(pair.name),
      circle(angles[i]!, radius, start),
      lines(names[i]!, 0, side / 2 + 8, font.label, { 'text-anchor': 'middle', 'font-weight': 600 }),
      lines(stepText(angles[i]!), 0, side / 2 + 8 + names[i]!.length * lineHeight, font.tick, {
        'text-anchor': 'middle',
        fill: color.faded,
      }),
    );
  });
  const description = `Unit circles with up to ${count} positions. ${pairs.map((p, i) => `${p.name}: ${stepText(angles[i]!).join(', ')}`).join('; ')}.`;
  return frame({
    figure: where,
    title: data.title,
    subtitle: data.subtitle,
    description,
    options,
    height: rows * (side + caption),
    body: () => panels.join(''),
  });
}

function circle(angles: readonly number[], radius: number, start: number): string {
  const points = angles.flatMap((angle, i) =>
    Number.isFinite(angle)
      ? [{ position: start + i, angle, fill: interpolateViridis((0.9 * i) / Math.max(1, angles.length - 1)) }]
      : [],
  );
  const axes = `M${px(-radius - 6)},0H${px(radius + 6)}M0,${px(-radius - 6)}V${px(radius + 6)}`;
  const dots = [...points].reverse().map(({ angle, fill, position }) => {
    const [x, y] = place(angle, radius);
    return el(
      'circle',
      { cx: x, cy: y, r: 4, fill, stroke: color.background, 'stroke-width': 0.7 },
      tooltip(`position ${position}: ${formatNumber(angle, 4)} rad`),
    );
  });
  return [
    el('path', { d: axes, stroke: color.grid }),
    el('circle', { r: radius, fill: 'none', stroke: color.axis }),
    arrow(angles, radius * 0.6),
    ...dots,
    ...numbers(points, radius),
  ].join('');
}

/** Position numbers outside the circle: first and last before the others, each only where there is room; '0 … 11' inside, behind the arrow, where all share one place. */
function numbers(points: readonly { position: number; angle: number }[], radius: number): string[] {
  const ordered = new Set([points[0], points.at(-1), ...points.slice(1, -1)].filter((p) => p !== undefined));
  const placed: { text: string; x: number; y: number; half: number; angle: number }[] = [];
  for (const { position, angle } of ordered) {
    const text = String(position).replace('-', '−');
    const half = textWidth(text, font.tick) / 2 + 1;
    const [x, y] = place(angle, radius + 9 + half * 0.8);
    if (!placed.some((t) => Math.abs(t.x - x) < t.half + half && Math.abs(t.y - y) < font.tick))
      placed.push({ text, x, y, half, angle });
  }
  const [only] = placed;
  if (only && placed.length === 1 && points.length > 1) {
    only.text = `${only.text} … ${points.at(-1)!.position}`;
    const half = textWidth(only.text, font.tick) / 2;
    const behind = points[1]!.angle < only.angle ? 0.35 : -0.35;
    [only.x, only.y] = place(only.angle + behind, radius - 12 - half);
  }
  return placed.map(({ text, x, y }) =>
    label(text, { x, y: y + font.tick * 0.35, 'text-anchor': 'middle', 'font-size': font.tick }),
  );
}

/** From the first angle to the second along the arc; a step too short to see is drawn to the last angle instead. */
function arrow(angles: readonly number[], radius: number): string {
  const [from, next, last] = [angles[0], angles[1], angles.at(-1)];
  if (from === undefined || next === undefined || last === undefined) return '';
  if (![from, next, last].every(Number.isFinite) || next === from) return '';
  const visible = 14 / radius;
  const wanted = Math.abs(next - from) >= visible ? next - from : last - from;
  const turn = Math.sign(wanted) * Math.min(Math.max(Math.abs(wanted), visible), 0.97 * fullTurn);
  const [x0, y0] = place(from, radius);
  const to = from + turn;
  const neck = to - Math.sign(turn) * Math.min(Math.abs(turn) * 0.5, 9 / radius);
  const [x1, y1] = place(neck, radius);
  const corners = [place(neck, radius - 4), place(neck, radius + 4), place(to, radius)].map(
    ([x, y]) => `${px(x)},${px(y)}`,
  );
  const sweep = turn > 0 ? 0 : 1;
  const large = Math.abs(neck - from) > Math.PI ? 1 : 0;
  const arc = `M${px(x0)},${px(y0)}A${px(radius)},${px(radius)} 0 ${large} ${sweep} ${px(x1)},${px(y1)}`;
  return (
    el('path', { d: arc, fill: 'none', stroke: color.faded, 'stroke-width': 1.4 }) +
    el('path', { d: `M${corners.join('L')}Z`, fill: color.faded })
  );
}

/** The step if it is the same everywhere, and how many positions go once round. */
function stepText(angles: readonly number[]): string[] {
  const steps = angles.slice(1).map((a, i) => a - angles[i]!);
  const step = steps[0];
  if (step === undefined) return [angles.length === 1 ? '1 position' : 'no position'];
  const even = steps.every((s) => Math.abs(s - step) <= 1e-6 * Math.max(1, ...angles.map(Math.abs)));
  if (!even) return [`${angles.length} positions`, 'steps differ'];
  if (step === 0) return ['stands still'];
  return [`${formatNumber(step)} rad per position`, `once round in ${formatNumber(Math.abs(fullTurn / step))}`];
}

/** SVG's y grows downward, angles counter-clockwise. */
const place = (angle: number, radius: number): [number, number] => [
  radius * Math.cos(angle),
  -radius * Math.sin(angle),
];
