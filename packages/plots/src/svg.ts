/** SVG as strings: elements, escaped text, and the frame (background, title, subtitle, accessible name) around a figure. */
import { check } from './errors.ts';
import { textWidth, wrapText } from './text.ts';
import { color, type FigureOptions, font, space } from './theme.ts';

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** `<name …>children</name>`; undefined attributes are left out, numbers keep two decimals, children are markup. */
export function el(name: string, attributes: Attributes, ...children: readonly string[]): string {
  let head = `<${name}`;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) head += ` ${key}="${typeof value === 'number' ? px(value) : escapeXml(value)}"`;
  }
  return children.length > 0 ? `${head}>${children.join('')}</${name}>` : `${head}/>`;
}

/** A coordinate with two decimals. A value that is not finite would draw nothing without a word: it is a defect here. */
export function px(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`a figure computed the coordinate ${value}`);
  return String(Math.round(value * 100) / 100 || 0);
}

/** `<text>` with plain, unescaped content. */
export function label(content: string, attributes: Attributes): string {
  return el('text', attributes, escapeXml(content));
}

/** A tooltip for the element it is put into, read by screen readers as well. */
export const tooltip = (content: string): string => el('title', {}, escapeXml(content));

/** Also replaces what XML cannot hold at all: control characters and halves of surrogate pairs. */
export function escapeXml(text: string): string {
  return text
    .replace(/\s/g, ' ')
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}

/** The outline of a figure: what stands around the part that the figure draws itself. */
export interface Frame {
  /** Name of the figure's function, for errors. */
  readonly figure: string;
  readonly title: string;
  readonly subtitle?: string;
  /** Used for screen readers unless the options bring their own. */
  readonly description: string;
  readonly options: FigureOptions;
  /** Height of the body, px. */
  readonly height: number;
  /** The body, drawn from (0, 0); `id` starts every id in it. */
  readonly body: (id: string) => string;
}

export function frameWidth(figure: string, { width = space.width, plotHeight }: FigureOptions): number {
  check(
    width >= space.minWidth && width <= 10_000,
    figure,
    `width ${width} is not between ${space.minWidth} and 10000 px`,
  );
  check(
    plotHeight === undefined || (plotHeight >= 40 && plotHeight <= 10_000),
    figure,
    `plotHeight ${plotHeight} is not between 40 and 10000 px`,
  );
  return width;
}

/** A complete SVG document: white background (safe on dark pages), title, subtitle, `role="img"` with title and description. */
export function frame({ figure, title, subtitle = '', description, options, height, body }: Frame): string {
  const width = frameWidth(figure, options);
  const inner = width - 2 * space.edge;
  let y = space.edge;
  const header: string[] = [];
  const write = (text: string, size: number, lines: number, attributes: Attributes, bold: boolean) => {
    for (const line of wrapText(text, inner, size, lines, bold)) {
      y += size * space.line;
      header.push(label(line, { x: space.edge, y: y - size * 0.3, 'font-size': size, ...attributes }));
    }
  };
  write(title, font.title, 2, { 'font-weight': 600 }, true);
  write(subtitle, font.subtitle, 3, { fill: color.faded }, false);
  const top = y + (header.length > 0 ? space.gap : 0);
  const total = Math.ceil(top + height + space.edge);
  const summary = options.description ?? description;
  const id = options.idPrefix ?? `figure-${hash(title + subtitle + summary + total + body(''))}`;
  return el(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width,
      height: total,
      viewBox: `0 0 ${px(width)} ${px(total)}`,
      role: 'img',
      'aria-labelledby': `${id}-title ${id}-desc`,
      'font-family': font.family,
      'font-size': font.label,
      fill: color.ink,
      style: 'max-width:100%;height:auto',
    },
    el('title', { id: `${id}-title` }, escapeXml(title || figure)),
    el('desc', { id: `${id}-desc` }, escapeXml(summary)),
    el('rect', { width: '100%', height: '100%', fill: color.background }),
    ...header,
    el('g', { transform: `translate(0,${px(top)})` }, body(id)),
  );
}

/** Lines of text below each other, the first baseline at `y`. */
export function lines(content: readonly string[], x: number, y: number, size: number, attributes: Attributes): string {
  return content
    .map((line, i) => label(line, { x, y: y + i * size * space.line, 'font-size': size, ...attributes }))
    .join('');
}

/** Width of the widest of some lines. */
export const widest = (content: readonly string[], size: number): number =>
  content.reduce((most, line) => Math.max(most, textWidth(line, size)), 0);

/** FNV-1a, 32 bits: the same picture gets the same ids on every run. */
function hash(text: string): string {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h >>> 0).toString(36);
}
