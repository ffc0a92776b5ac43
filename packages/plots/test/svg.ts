/** Reads a figure back: strict XML, then what a test asks about. */
import { DOMParser, type Element, onErrorStopParsing } from '@xmldom/xmldom';
import { textWidth } from '../src/text.ts';

/** Throws on anything that is not well-formed XML. */
export function parse(svg: string): Element {
  return new DOMParser({ onError: onErrorStopParsing }).parseFromString(svg, 'image/svg+xml').documentElement!;
}

export function all(root: Element, name: string): Element[] {
  return [...root.getElementsByTagName(name)];
}

export function texts(svg: string): string[] {
  return all(parse(svg), 'text').map((t) => t.textContent ?? '');
}

export const number = (element: Element, attribute: string): number => Number(element.getAttribute(attribute) ?? 0);

/** The picture's code without embedded images, whose base64 may spell anything. */
export const code = (svg: string): string => svg.replace(/data:[^"]*/g, '');

export interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where each text stands at most, in the coordinates of the whole picture. */
export function textBoxes(svg: string): Box[] {
  return all(parse(svg), 'text').map((t) => {
    const text = t.textContent ?? '';
    const size = number(t, 'font-size') || 12;
    const width = textWidth(text, size, (t.getAttribute('font-weight') ?? '') >= '600');
    let [x, y] = [number(t, 'x'), number(t, 'y')];
    for (let up = t.parentNode as Element | null; up?.getAttribute; up = up.parentNode as Element | null) {
      const moved = /translate\(([-\d.]+),([-\d.]+)\)/.exec(up.getAttribute('transform') ?? '');
      x += Number(moved?.[1] ?? 0);
      y += Number(moved?.[2] ?? 0);
    }
    const anchor = t.getAttribute('text-anchor');
    const left = anchor === 'end' ? x - width : anchor === 'middle' ? x - width / 2 : x;
    return { text, left, right: left + width, top: y - size * 0.76, bottom: y + size * 0.24 };
  });
}
