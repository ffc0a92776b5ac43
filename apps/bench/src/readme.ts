/** The tables of the root README, as Markdown, from a benchmark's document. */
import {
  type BenchDocument,
  contenderName,
  type EncodingCell,
  milliseconds,
  spreadText,
  underLoad,
} from 'posenc/bench';

/** Everything between the README's markers. */
export function tables(document: BenchDocument): string {
  const { standardStep, encodings } = document;
  if (!standardStep || !encodings) throw new Error('the README needs a run of everything');
  return [
    caption(document),
    '',
    `**The standard step** (${document.standardStep!.sizes.numLayers} layers, modelDim ${standardStep.sizes.modelDim}, batch ${standardStep.sizes.batch} × ${standardStep.sizes.length} tokens, forward + backward + Adam + reading the loss; every contender starts from the same weights and must get the same losses):`,
    '',
    ...stepTable(standardStep),
    '',
    `**Each encoding against NoPE**, time of forward + backward and of one token decoded through the cache, at ${encodings.lengths.join(', ')} tokens (${encodings.backend.name}, median (range) of turns taken with NoPE; NoPE beside itself shows the noise):`,
    '',
    ...encodingTable(encodings),
  ].join('\n');
}

function caption(document: BenchDocument): string {
  const { machine, date, versions } = document;
  const busy = machine.otherCores.median.toFixed(1);
  const load = underLoad(document)
    ? ` **Measured under load**: other processes kept ${busy} of ${machine.cores} cores busy, so read the ratios and not the times; contenders with several threads suffer most.`
    : '';
  return `One machine, one run: ${machine.processor}, ${machine.cores} cores, Node.js ${versions.node}, ${date.slice(0, 10)}.${load}`;
}

function stepTable({ contenders, reference }: NonNullable<BenchDocument['standardStep']>): string[] {
  const rows = contenders.map((c) =>
    c.status === 'absent'
      ? `| ${c.name} | absent | |`
      : `| ${c.kind === 'ours' ? `posenc, ${contenderName(c)}` : `${contenderName(c)} (${c.version})`} | ${milliseconds(c.seconds.median)} | ${spreadText(c.ratio)} |`,
  );
  return [`| | ms | time relative to ${reference} |`, '|---|---:|---|', ...rows];
}

function encodingTable({ rows, lengths }: NonNullable<BenchDocument['encodings']>): string[] {
  const titles = [
    ...lengths.map((length) => `forward + backward, ${length}`),
    ...lengths.map((length) => `decode, ${length}`),
    `peak bytes, ${lengths.at(-1)}`,
    'parameters',
  ];
  const text = (cell: EncodingCell, pick: 'forwardBackward' | 'decode') =>
    cell.status === 'measured' ? spreadText(cell[pick].ratio) : cell.status;
  const body = rows.map(({ name, cells, parameters }) => {
    const last = cells.at(-1)!;
    const columns = [
      name,
      ...cells.map((cell) => text(cell, 'forwardBackward')),
      ...cells.map((cell) => text(cell, 'decode')),
      last.status === 'measured' ? last.peakBytes.ratio.toFixed(2) : last.status,
      `+${parameters.encoding}`,
    ];
    return `| ${columns.join(' | ')} |`;
  });
  return [`| | ${titles.join(' | ')} |`, `|---|${'---|'.repeat(titles.length)}`, ...body];
}

const between = /(<!-- bench tables: start -->\n)[\s\S]*(\n<!-- bench tables: end -->)/;

/** What now stands between the markers of a page. */
export function tablesIn(page: string): string {
  const found = between.exec(page);
  if (!found) throw new Error('the README has no markers for the benchmark tables');
  return found[0].slice(found[1]!.length, -found[2]!.length);
}

/** The page with other tables between its markers. */
export const withTables = (page: string, markdown: string): string =>
  page.replace(between, (_, start: string, end: string) => `${start}${markdown}${end}`);
