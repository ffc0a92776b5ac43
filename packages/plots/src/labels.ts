/** Labels beside line ends: each at the height where its line stops, moved apart just enough not to overlap. */
import type { Area } from './axes.ts';
import { el, lines, px, tooltip, widest } from './svg.ts';
import { wrapText } from './text.ts';
import { color, font, type SeriesStyle, space } from './theme.ts';

export interface EndLabel {
  readonly name: string;
  /** Appended to the name, for example where the line left the frame. */
  readonly note?: string;
  readonly style: SeriesStyle;
  /** Draw the marker into the key. */
  readonly marker: boolean;
  readonly faded?: boolean;
}

export interface LabelPlace {
  /** Where the label would like to be, px. */
  readonly y: number;
  /** End of the line if it reaches the column of labels: a thin leader joins them. */
  readonly from?: { readonly x: number; readonly y: number };
}

const leader = 22;
const key = 22;
const lineHeight = font.label * space.line;

export interface LabelColumn {
  readonly width: number;
  /** Height that all labels need. */
  readonly height: number;
  /** To the right of `area`; one place per label. */
  draw(area: Area, places: readonly LabelPlace[]): string;
}

/** Lays out labels in a column of at most `maxWidth` px, names in one or two lines; `rest`: how many more there are without a label. */
export function labelColumn(labels: readonly EndLabel[], maxWidth: number, rest: number): LabelColumn {
  const texts = labels.map(({ name, note }) =>
    wrapText(note ? `${name} ${note}` : name, maxWidth - leader - key, font.label, 2),
  );
  const more = rest > 0 ? `and ${rest} more` : '';
  const moreHeight = rest > 0 ? lineHeight : 0;
  const heights = texts.map((content) => Math.max(1, content.length) * lineHeight + 2);
  const width = labels.length === 0 ? 0 : leader + key + widest([...texts.flat(), more], font.label);
  const height = heights.reduce((sum, h) => sum + h, moreHeight);
  const draw = (area: Area, places: readonly LabelPlace[]) => {
    const x = area.left + area.width + leader;
    const bottom = area.top + area.height;
    const wanted = places.map((p) => p.y);
    const centres = spread(wanted, heights, area.top, bottom - moreHeight);
    const items = labels.map(({ name, style, marker, faded }, i) => {
      const y = centres[i]!;
      const content = texts[i]!;
      const from = places[i]!.from;
      const first = y - ((content.length - 1) * lineHeight) / 2 + font.label * 0.35;
      const joined = from && `M${px(from.x)},${px(from.y)}L${px(x - 10)},${px(y)}H${px(x - 3)}`;
      const stroke = { fill: 'none', stroke: style.color };
      return el(
        'g',
        {},
        tooltip(name),
        joined ? el('path', { d: joined, ...stroke, 'stroke-width': 0.75, opacity: 0.7 }) : '',
        el('path', {
          d: `M${px(x)},${px(y)}h17`,
          ...stroke,
          'stroke-width': style.width,
          'stroke-dasharray': style.dash,
        }),
        marker
          ? el('path', { d: style.marker, transform: `translate(${px(x + 8.5)},${px(y)})`, fill: style.color })
          : '',
        lines(content, x + key, first, font.label, faded ? { fill: color.faded } : {}),
      );
    });
    const last = more ? lines([more], x + key, bottom, font.label, { fill: color.faded }) : '';
    return items.join('') + last;
  };
  return { width, height, draw };
}

/**
 * Centres as near to `wanted` as boxes of the given heights allow inside [top, bottom] (least squares: pool adjacent
 * violators on the heights' running sum). Equal wishes keep the given order. Boxes too high in total overflow at the bottom.
 */
export function spread(wanted: readonly number[], heights: readonly number[], top: number, bottom: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]! || a - b);
  let above = 0;
  const blocks: { sum: number; members: number[]; offsets: number[] }[] = [];
  for (const i of order) {
    const offset = above + heights[i]! / 2;
    above += heights[i]!;
    let block = { sum: wanted[i]! - offset, members: [i], offsets: [offset] };
    for (let last = blocks.at(-1); last && mean(last) >= mean(block); last = blocks.at(-1)) {
      blocks.pop();
      block = {
        sum: last.sum + block.sum,
        members: [...last.members, ...block.members],
        offsets: [...last.offsets, ...block.offsets],
      };
    }
    blocks.push(block);
  }
  const centres = new Array<number>(wanted.length).fill(0);
  for (const block of blocks) {
    const start = Math.max(top, Math.min(mean(block), bottom - above));
    block.members.forEach((i, n) => {
      centres[i] = start + block.offsets[n]!;
    });
  }
  return centres;
}

const mean = (block: { sum: number; members: readonly number[] }) => block.sum / block.members.length;
