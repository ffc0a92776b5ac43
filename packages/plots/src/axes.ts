/** Scales, ticks and the axes drawn from them. */
import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from 'd3-scale';
import type { Axis, ScaleKind } from './data.ts';
import { check } from './errors.ts';
import { formatNumber, tickFormat } from './numbers.ts';
import { el, label, lines, px } from './svg.ts';
import { fitText, textWidth } from './text.ts';
import { color, font, space } from './theme.ts';

export type Scale = ScaleContinuousNumeric<number, number>;

/** An area in px, y downward. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface LabelledTick {
  readonly value: number;
  readonly label: string;
}

/** Maps `domain` to `range`; a domain of one value is widened around it. */
export function makeScale(kind: ScaleKind, domain: readonly [number, number], where: string): Scale {
  let [low, high] = domain;
  check(
    kind === 'linear' || low > 0,
    where,
    `a ${kind} scale cannot show ${formatNumber(low)}; use positive values or scale 'linear'`,
  );
  if (low === high) {
    if (kind !== 'linear') [low, high] = [low / 2, high * 2];
    else [low, high] = low === 0 ? [-1, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  }
  check(Number.isFinite(high - low) && low < high, where, `values from ${low} to ${high} are too far apart to draw`);
  const scale = kind === 'linear' ? scaleLinear() : scaleLog().base(kind === 'log2' ? 2 : 10);
  return scale.domain([low, high]);
}

/** Ticks with their labels inside the scale's domain: the axis's own, or about `count` round ones; `whole`: no fractions. */
export function makeTicks(
  scale: Scale,
  { scale: kind = 'linear', ticks }: Axis,
  count: number,
  whole = false,
): LabelledTick[] {
  const [low, high] = scale.domain() as [number, number];
  if (ticks) {
    const format = tickFormat(ticks.map((t) => (typeof t === 'number' ? t : t.value)));
    return ticks
      .map((t) => (typeof t === 'number' ? { value: t, label: kind === 'linear' ? format(t) : formatNumber(t, 4) } : t))
      .filter(({ value }) => value >= low && value <= high);
  }
  const round = kind === 'linear' ? scale.ticks(count) : logTicks(scale, kind === 'log2' ? 2 : 10, low, high, count);
  const values = whole && round.some(Number.isInteger) ? round.filter(Number.isInteger) : round;
  const span = kind === 'linear' ? tickFormat(values) : (value: number) => formatNumber(value, 4);
  return values.map((value) => ({ value, label: span(value) }));
}

/** Whole powers, thinned to `count`; where a base-10 axis shows fewer than three of them, round numbers in between or linear ticks. */
function logTicks(scale: Scale, base: number, low: number, high: number, count: number): number[] {
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const powers = last - first + 1;
  if (powers < 3 && base === 10) {
    const inside = (step: readonly number[]) =>
      Array.from({ length: powers + 2 }, (_, i) => step.map((m) => m * 10 ** (first - 1 + i)))
        .flat()
        .filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
    const round = inside([1, 1.5, 2, 3, 5, 7]);
    return round.length >= 3 ? round : scaleLinear().domain([low, high]).ticks(count);
  }
  if (powers < 2) return scale.ticks(count);
  const every = Math.ceil(powers / count);
  return Array.from({ length: powers }, (_, i) => first + i)
    .filter((_, i) => i % every === 0)
    .map((p) => base ** p);
}

/** Room that y tick labels need to the left of the plotting area. */
export const tickRoom = (ticks: readonly LabelledTick[]): number =>
  ticks.reduce((most, t) => Math.max(most, textWidth(t.label, font.tick)), 0) + space.gap;

/** Height of an x axis: its tick labels' lines and its own label. */
export function axisHeight(ticks: readonly LabelledTick[], axisLabel: string): number {
  const rows = ticks.reduce((most, t) => Math.max(most, t.label.split('\n').length), 1);
  return 8 + rows * font.tick * space.line + (axisLabel ? font.label * 1.6 : 0);
}

/** Horizontal grid lines with tick labels on the left. */
export function yAxis(scale: Scale, ticks: readonly LabelledTick[], area: Area): string {
  let lastY = Number.POSITIVE_INFINITY;
  return [...ticks]
    .sort((a, b) => a.value - b.value)
    .map((tick) => {
      const y = scale(tick.value);
      const line = el('path', { d: `M${px(area.left)},${px(y)}h${px(area.width)}`, stroke: color.grid });
      if (lastY - y < font.tick * 1.1) return line;
      lastY = y;
      const at = {
        x: area.left - space.gap,
        y: y + font.tick * 0.35,
        'text-anchor': 'end',
        'font-size': font.tick,
        fill: color.faded,
      };
      return line + label(tick.label, at);
    })
    .join('');
}

/** The base line, ticks with labels below it, and the axis's label under those. `width` is the whole figure's: no label leaves it. */
export function xAxis(
  scale: Scale,
  ticks: readonly LabelledTick[],
  area: Area,
  { label: axisLabel, width, grid = false }: { label: string; width: number; grid?: boolean },
): string {
  const bottom = area.top + area.height;
  const rows = axisHeight(ticks, '') - 8;
  const faded = { 'text-anchor': 'middle', fill: color.faded };
  const inside = (x: number, half: number) => Math.min(Math.max(x, half + 4), width - half - 4);
  const placed = [...ticks]
    .sort((a, b) => scale(a.value) - scale(b.value))
    .map((tick) => {
      const content = tick.label.split('\n').map((line) => fitText(line, width / 3, font.tick));
      const half = Math.max(...content.map((line) => textWidth(line, font.tick))) / 2;
      const x = scale(tick.value);
      return { value: tick.value, content, half, x, textX: inside(x, half) };
    });
  const marks = placed.map(({ x }) => {
    const up = grid ? el('path', { d: `M${px(x)},${px(area.top)}v${px(area.height)}`, stroke: color.grid }) : '';
    return up + el('path', { d: `M${px(x)},${px(bottom)}v5`, stroke: color.axis });
  });
  const labels = legible(placed).map(({ content, textX }) =>
    lines(content, textX, bottom + 8 + font.tick, font.tick, faded),
  );
  const base = el('path', { d: `M${px(area.left)},${px(bottom)}h${px(area.width)}`, stroke: color.axis });
  const title = fitText(axisLabel, width - 2 * space.edge, font.label);
  const titleX = inside(area.left + area.width / 2, textWidth(title, font.label) / 2);
  const below = title ? label(title, { x: titleX, y: bottom + 8 + rows + font.label * 1.2, ...faded }) : '';
  return marks.join('') + base + labels.join('') + below;
}

/** Every tick label, or every second, third …: the first such choice, counted from zero, in which no two run into each other. */
function legible<T extends { value: number; half: number; textX: number }>(placed: readonly T[]): T[] {
  const zero = Math.max(
    0,
    placed.findIndex((p) => p.value === 0),
  );
  for (let every = 1; every < placed.length; every++) {
    const chosen = placed.filter((_, i) => (i - zero) % every === 0);
    if (chosen.every((p, i) => i === 0 || p.textX - p.half >= chosen[i - 1]!.textX + chosen[i - 1]!.half + 6))
      return chosen;
  }
  return placed.slice(zero, zero + 1);
}
