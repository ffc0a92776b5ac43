/** The tables of READMEs and docs, as Markdown, from a benchmark's document. */
import {
  attentionBytes,
  attentionCellText,
  type BenchDocument,
  contenderName,
  type EncodingCell,
  megabytes,
  milliseconds,
  spreadText,
  underLoad,
} from 'posenc/bench';
import { targetHead, targetRows } from './targets.ts';

/** A document of every part: what pages are drawn from. */
export type Complete = { readonly [K in keyof BenchDocument]: NonNullable<BenchDocument[K]> };

export const isComplete = (document: BenchDocument): document is BenchDocument & Complete =>
  Object.entries(document).every(([key, value]) => value !== null || key === 'commit');

/** What stands between the markers `<!-- bench NAME: start -->` and `<!-- bench NAME: end -->` of a page. */
export interface Block {
  readonly page: string;
  readonly name: string;
  draw(document: Complete): string;
}

/** Every block that a benchmark draws, by the page it is on. */
export const blocks: readonly Block[] = [
  { page: 'README.md', name: 'tables', draw: overview },
  { page: 'docs/backends.md', name: 'backends', draw: backends },
  { page: 'apps/bench/README.md', name: 'result', draw: result },
  { page: 'packages/tfjs-backend-simd/README.md', name: 'simd', draw: simd },
];

/** The standard step beside rivals, and what encodings cost. */
function overview(document: Complete): string {
  const { standardStep, encodings } = document;
  return paragraphs(
    caption(document),
    `**The standard step** (${stepSizes(document)}, forward + backward + Adam + reading the loss; every contender starts from the same weights and must get the same losses; ratios are medians over turns, so they need not be quotients of the times):`,
    stepTable(standardStep),
    `**Each encoding against NoPE**, time of forward + backward and of one token decoded through the cache, at ${encodings.lengths.join(', ')} tokens (${encodings.backend.name}, median (range) of turns taken with NoPE; NoPE beside itself shows the noise):`,
    encodingTable(encodings),
  );
}

/** Backends side by side. */
function backends(document: Complete): string {
  const { standardStep, attention } = document;
  const ours = standardStep.contenders.filter(({ kind }) => kind === 'ours');
  return paragraphs(
    caption(document),
    `**The standard step**: ${stepSizes(document)}; forward, backward, Adam, reading the loss.`,
    stepTable({ ...standardStep, contenders: ours }, true),
    `**Attention of one layer**, forward and backward, ${attention.sizes.numHeads} heads of ${attention.sizes.headDim}, always ${attention.sizes.tokens} tokens, in sequences of the length above: milliseconds, and time relative to ${attention.reference}. Who needs more than ${attention.limitSeconds} s for two passes is cut off.`,
    attentionTable(attention),
    memoryText(document),
  );
}

/** What must be reached, and what else was measured of simd. */
function simd(document: Complete): string {
  return paragraphs(caption(document), targetTable(document), productText(document), profileTable(document));
}

/** The rest of the numbers. */
function result(document: Complete): string {
  return paragraphs(caption(document), targetTable(document), trainingTable(document), decodingTable(document));
}

const paragraphs = (...parts: readonly string[]): string => parts.filter(Boolean).join('\n\n');

function markdown(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[] = []) {
  const rule = head.map((_, i) => (right.includes(i) ? '---:' : '---'));
  return [`| ${head.join(' | ')} |`, `|${rule.join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

function caption(document: Complete): string {
  const { machine, date, versions, environment } = document;
  const busy = machine.otherCores.median.toFixed(1);
  const load = underLoad(document)
    ? ` **Measured under load**: other processes kept ${busy} of ${machine.cores} cores busy, so read the ratios and not the times; contenders with several threads suffer most.`
    : '';
  const set = Object.entries(environment).map(([name, value]) => `\`${name}=${value}\``);
  const settings = set.length ? ` Set: ${set.join(', ')}.` : '';
  return `One machine, one run: ${machine.processor}, ${machine.cores} cores, Node.js ${versions.node}, ${date.slice(0, 10)}.${settings}${load}`;
}

const stepSizes = ({ standardStep: { sizes } }: Complete): string =>
  `${sizes.numLayers} layers, modelDim ${sizes.modelDim}, batch ${sizes.batch} × ${sizes.length} tokens`;

/** `losses`: with how far the compared losses differ from those of the reference. */
function stepTable({ contenders, reference }: Complete['standardStep'], losses = false): string {
  const measured = contenders.flatMap((c) => (c.status === 'measured' ? [c] : []));
  const theirs = measured.find((c) => contenderName(c) === reference)!;
  const apart = (own: readonly number[]) => Math.max(...own.map((loss, i) => Math.abs(loss - theirs.losses[i]!)));
  const rows = contenders.map((c) => {
    if (c.status === 'absent') return [c.name, 'absent', ''];
    const name = c.kind === 'ours' ? `posenc, ${contenderName(c)}` : `${contenderName(c)} (${c.version})`;
    const off = apart(c.losses);
    const more = losses ? [c.variant, c === theirs ? '' : off === 0 ? '0' : off.toExponential(0)] : [];
    return [name, milliseconds(c.seconds.median), spreadText(c.ratio), ...more];
  });
  const head = ['', 'ms', `time relative to ${reference}`];
  return markdown([...head, ...(losses ? ['computes', 'first losses differ by'] : [])], rows, [1]);
}

function encodingTable({ rows, lengths }: Complete['encodings']): string {
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
    return [
      name,
      ...cells.map((cell) => text(cell, 'forwardBackward')),
      ...cells.map((cell) => text(cell, 'decode')),
      last.status === 'measured' ? last.peakBytes.ratio.toFixed(2) : last.status,
      `+${parameters.encoding}`,
    ];
  });
  return markdown(['', ...titles], body);
}

function attentionTable({ contenders }: Complete['attention']): string {
  const lengths = contenders[0]!.cells.map(({ length }) => String(length));
  return markdown(
    ['', ...lengths],
    contenders.map((c) => [contenderName(c), ...c.cells.map(attentionCellText)]),
  );
}

function memoryText({ attention }: Complete): string {
  const bytes = attentionBytes(attention);
  if (!bytes.length) return '';
  const list = bytes.map((one) => `${one.length} tokens ${megabytes(one.bytes)}`).join(', ');
  return `Memory of one sequence's attention at its peak, as the allocator of ${bytes[0]!.name} counts it: ${list}.`;
}

const targetTable = (document: Complete): string => markdown(targetHead, targetRows(document));

function productText({ products: { size, contenders } }: Complete): string {
  const list = contenders.map((c) =>
    c.status === 'absent'
      ? `${c.name} absent`
      : `${c.kind === 'ours' ? c.name : `${c.name} ${c.version}`} ${c.gflops.median.toPrecision(3)} (${c.variant})`,
  );
  return `Matrix product ${size}³ on one thread, GFLOPS: ${list.join(', ')}.`;
}

/** Kernels from one part in a hundred of the time on. */
function profileTable({ profile }: Complete): string {
  const { backend, seconds, outside, kernels } = profile;
  const shown = kernels.filter((kernel) => kernel.seconds >= 0.01 * seconds.median);
  const rest = kernels.reduce((sum, kernel) => sum + (shown.includes(kernel) ? 0 : kernel.seconds), 0);
  const rows = [
    ...shown.map((kernel) => [kernel.kernel, milliseconds(kernel.seconds), kernel.calls.toFixed(0)]),
    ['other kernels', milliseconds(rest), ''],
    ['outside kernels', milliseconds(outside), ''],
  ];
  return paragraphs(
    `Where a standard step goes (${contenderName(backend)}, ${milliseconds(seconds.median)} ms with a clock around every kernel):`,
    markdown(['kernel', 'ms', 'calls'], rows, [1, 2]),
  );
}

function trainingTable({ training: { backend, sizes, tokens, cells } }: Complete): string {
  const names = cells[0]!.rows.map(({ name }) => name);
  const nope = ['nope, ms', ...cells.map((cell) => milliseconds(cell.nope.median))];
  const rows = names.map((name, i) => [name, ...cells.map(({ rows }) => spreadText(rows[i]!.ratio))]);
  return paragraphs(
    `**A whole training step against NoPE** (${sizes.numLayers} layers, ${tokens} tokens in sequences of that length, ${contenderName(backend)}), for the encodings that attention streams:`,
    markdown(['', ...cells.map(({ length }) => String(length))], [nope, ...rows]),
  );
}

function decodingTable({ decoding: { backend, cells, ratio } }: Complete): string {
  const rows = cells.map(({ length, full, cached, speedup }) => [
    String(length),
    milliseconds(full.median),
    milliseconds(cached.median),
    spreadText(speedup),
  ]);
  return paragraphs(
    `**One more token** (${contenderName(backend)}), computing all again or through the cache; the last column grows ${spreadText(ratio)} times from the first length to the last:`,
    markdown(['tokens', 'all again, ms', 'cached, ms', 'times as fast'], rows, [1, 2]),
  );
}

const markers = (name: string) =>
  new RegExp(`(<!-- bench ${name}: start -->\\n)[\\s\\S]*(\\n<!-- bench ${name}: end -->)`);

/** What now stands between a block's markers. */
export function blockIn(page: string, name: string): string {
  const found = markers(name).exec(page);
  if (!found) throw new Error(`the page has no markers for the benchmark's "${name}"`);
  return found[0].slice(found[1]!.length, -found[2]!.length);
}

/** The page with another text between a block's markers. */
export function withBlock(page: string, name: string, text: string): string {
  blockIn(page, name);
  return page.replace(markers(name), (_, start: string, end: string) => `${start}${text}${end}`);
}
