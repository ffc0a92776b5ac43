/** Blocks that a script writes into Markdown, between `<!-- NAME: start -->` and `<!-- NAME: end -->`. */

const pattern = /<!-- ([^>]+?): start -->\n([\s\S]*?)<!-- \1: end -->/g;

/** What stands between the markers, by name. */
export const blocksOf = (page: string): Map<string, string> =>
  new Map([...page.matchAll(pattern)].map(([, name, text]) => [name!, text!]));

/** `to` with the blocks of `from`. Throws when `to` has other markers. */
export function copyBlocks(from: string, to: string): string {
  const blocks = blocksOf(from);
  const names = [...blocksOf(to).keys()];
  const lost = [...blocks.keys()].filter((name) => !names.includes(name));
  const extra = names.filter((name) => !blocks.has(name));
  if (lost.length || extra.length)
    throw new Error(
      `the pages have other markers: missing ${lost.join(', ') || 'none'}, extra ${extra.join(', ') || 'none'}`,
    );
  return to.replace(pattern, (_, name: string) => `<!-- ${name}: start -->\n${blocks.get(name)}<!-- ${name}: end -->`);
}
