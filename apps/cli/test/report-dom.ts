/** Reads a page back with the parser that the HTML standard prescribes. */
import { type DefaultTreeAdapterTypes, type ParserError, parse } from 'parse5';

export type Element = DefaultTreeAdapterTypes.Element;
type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.Document;

/** The document's <html>; throws at the first thing the standard calls a parse error. */
export function open(page: string): Element {
  const errors: ParserError[] = [];
  const document = parse(page, { sourceCodeLocationInfo: true, onParseError: (error) => errors.push(error) });
  if (errors.length > 0)
    throw new Error(errors.map((e) => `${e.code} at line ${e.startLine}, column ${e.startCol}`).join('; '));
  return document.childNodes.find((node): node is Element => node.nodeName === 'html')!;
}

export const attribute = (element: Element, name: string): string | undefined =>
  element.attrs.find((a) => a.name === name)?.value;

export const hasClass = (element: Element, name: string): boolean =>
  (attribute(element, 'class') ?? '').split(' ').includes(name);

/** Elements below a node, in order; all of them, or those that pass. */
export function all(node: Node, wanted: string | ((element: Element) => boolean) = () => true): Element[] {
  const passes = typeof wanted === 'string' ? (e: Element) => e.tagName === wanted : wanted;
  return ('childNodes' in node ? node.childNodes : []).flatMap((child) => [
    ...('tagName' in child && passes(child) ? [child] : []),
    ...all(child, wanted),
  ]);
}

/** Every text and attribute value below a node on its own; style sheets are no text. */
export function pieces(node: Node): string[] {
  if (node.nodeName === 'style') return [];
  if ('value' in node) return [node.value];
  const own = 'attrs' in node ? node.attrs.map((a) => a.value) : [];
  return [...own, ...('childNodes' in node ? node.childNodes.flatMap(pieces) : [])];
}

/** Text below a node with white space collapsed. Style sheets are no text. */
export function textOf(node: Node): string {
  const gather = (n: Node): string => {
    if (n.nodeName === 'style') return '';
    if ('value' in n) return n.value;
    return 'childNodes' in n ? n.childNodes.map(gather).join('') : '';
  };
  return gather(node).replace(/\s+/g, ' ').trim();
}

export const byId = (root: Element, id: string): Element => all(root, (e) => attribute(e, 'id') === id)[0]!;

/** The cells' texts of the table with this accessible name, row by row. */
export function table(root: Element, name: string): string[][] {
  const frame = all(root, (e) => attribute(e, 'aria-label') === name)[0]!;
  return all(frame, 'tr').map((row) => all(row, (e) => e.tagName === 'td' || e.tagName === 'th').map(textOf));
}
