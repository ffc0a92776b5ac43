/** The tables that people read while it runs, and after. */
import { grouped } from '../ui/numbers.ts';
import { columns } from '../ui/style.ts';
import type {
  AttentionBench,
  AttentionCell,
  ContenderResult,
  DecodingBench,
  EncodingRow,
  ProductBench,
  ProfileBench,
  StandardStep,
  TrainingBench,
} from './document.ts';
import type { Summary } from './stats.ts';

/** Seconds as milliseconds with three significant digits. */
export const milliseconds = (seconds: number): string => grouped(Number((1000 * seconds).toPrecision(3)));

/** 1.23 (1.10–1.40) */
export const spreadText = ({ median, min, max }: Summary): string =>
  `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;

const head = ['', 'tokens', 'forward', 'forward + backward', 'decode', 'peak tensors', 'peak bytes', 'parameters'];
const widths = [22, 6, 20, 20, 20, 12, 10, 10];

/** Column titles, and what the numbers are. */
export const encodingHead = (): string =>
  `Ratios to NoPE measured in turns: median (range); decode is one token through the cache\n${aligned(head)}\n`;

export const encodingText = ({ name, parameters, cells }: EncodingRow): string =>
  cells
    .map((cell, i) => {
      const first = [i === 0 ? name : '', String(cell.length)];
      if (cell.status !== 'measured') return `${aligned([...first, cell.status])}: ${cell.reason.split('\n')[0]}\n`;
      const { forward, forwardBackward, decode, peakTensors, peakBytes } = cell;
      const times = [forward, forwardBackward, decode].map(({ ratio }) => spreadText(ratio));
      const memory = [peakTensors, peakBytes].map(({ ratio }) => ratio.toFixed(2));
      return `${aligned([...first, ...times, ...memory, i === 0 ? `+${grouped(parameters.encoding)}` : ''])}\n`;
    })
    .join('');

const aligned = (cells: readonly string[]) =>
  cells
    .map((cell, i) => cell.padEnd(widths[i]!))
    .join('  ')
    .trimEnd();

/** A contender as tables call it: with its threads. */
export const contenderName = ({ name, threads }: Pick<ContenderResult, 'name' | 'threads'>): string =>
  `${name}, ${threads} thread${threads === 1 ? '' : 's'}`;

const table = (title: string, rows: readonly (readonly string[])[], right: readonly number[] = [], note = '') =>
  `${[title, ...columns(rows, right)].join('\n')}\n${note}\n`;

export function standardStepText({ contenders, reference, parameters, sizes }: StandardStep): string {
  const rows = contenders.map((c) =>
    c.status === 'absent'
      ? [c.name, '', '', `absent: ${c.reason.split('\n')[0]}`]
      : [contenderName(c), milliseconds(c.seconds.median), spreadText(c.ratio), `${c.version} ${c.variant}`],
  );
  const what = `Standard step: ${sizes.numLayers} layers, modelDim ${sizes.modelDim}, batch ${sizes.batch} × ${sizes.length}, ${grouped(parameters)} parameters`;
  return table(what, [['', 'ms', `time to ${reference}`, ''], ...rows], [1]);
}

/** What a cell of the table of attention says: milliseconds and ratio; or that there are none. */
export function attentionCellText(cell: AttentionCell): string {
  if (cell.status === 'over') return `over ${cell.seconds} s`;
  if (cell.status === 'failed') return `failed: ${cell.reason.split('\n')[0]}`;
  return `${milliseconds(cell.seconds.median)}${cell.ratio ? `, ${spreadText(cell.ratio)}` : ''}`;
}

/** Length, and how many bytes of it one sequence takes; of the first contender that counts them. */
export function attentionBytes({ contenders }: AttentionBench): { name: string; length: number; bytes: number }[] {
  for (const { name, cells } of contenders) {
    const counted = cells.flatMap((cell) =>
      cell.status === 'measured' && cell.peakBytes !== null
        ? [{ name, length: cell.length, bytes: cell.peakBytes }]
        : [],
    );
    if (counted.length) return counted;
  }
  return [];
}

/** Bytes as megabytes with three significant digits. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toPrecision(3)} MB`;

export function attentionText(bench: AttentionBench): string {
  const { sizes, contenders, reference } = bench;
  const lengths = contenders[0]!.cells.map(({ length }) => `${length}`);
  const rows = contenders.map((c) => [contenderName(c), ...c.cells.map(attentionCellText)]);
  const title = `Attention of one layer, forward + backward, ${sizes.tokens} tokens in sequences of that length: ms, time to ${reference}`;
  const bytes = attentionBytes(bench);
  const memory = bytes.length
    ? `Memory of one sequence at its peak (${bytes[0]!.name}): ${bytes.map(({ length, bytes }) => `${length}: ${megabytes(bytes)}`).join(', ')}\n`
    : '';
  return table(title, [['', ...lengths], ...rows], [], memory);
}

export function productsText({ size, contenders }: ProductBench): string {
  const rows = contenders.map((c) =>
    c.status === 'absent'
      ? [c.name, `absent: ${c.reason.split('\n')[0]}`]
      : [c.name, c.gflops.median.toPrecision(3), `${c.gflops.min.toFixed(1)}–${c.gflops.max.toFixed(1)}`, c.variant],
  );
  return table(`Matrix product ${size}³, one thread`, [['', 'GFLOPS', 'range', ''], ...rows], [1]);
}

export function trainingText({ backend, sizes, tokens, cells }: TrainingBench): string {
  const names = cells[0]!.rows.map(({ name }) => name);
  const title = `Training step beside NoPE, ${sizes.numLayers} layers, ${tokens} tokens, ${contenderName(backend)}: median (range)`;
  const rows = names.map((name, i) => [name, ...cells.map(({ rows }) => spreadText(rows[i]!.ratio))]);
  const nope = ['NoPE, ms', ...cells.map((cell) => milliseconds(cell.nope.median))];
  return table(title, [['', ...cells.map(({ length }) => `${length}`)], nope, ...rows]);
}

export function decodingText({ backend, cells, ratio }: DecodingBench): string {
  const rows = cells.map(({ length, full, cached, speedup }) => [
    String(length),
    milliseconds(full.median),
    milliseconds(cached.median),
    spreadText(speedup),
  ]);
  const last = [`${cells.at(-1)!.length} by ${cells[0]!.length}`, '', '', spreadText(ratio)];
  const title = `One more token, ${contenderName(backend)}: ms`;
  return table(title, [['tokens', 'all again', 'cached', 'times as fast'], ...rows, last]);
}

export function profileText({ backend, seconds, outside, kernels }: ProfileBench): string {
  const least = 0.005 * seconds.median;
  const shown = kernels.filter((kernel) => kernel.seconds >= least);
  const rows = shown.map(({ kernel, seconds: s, calls }) => [kernel, milliseconds(s), calls.toFixed(0)]);
  const title = `Profile of the standard step, ${contenderName(backend)}: ${milliseconds(seconds.median)} ms`;
  return table(title, [['', 'ms', 'calls'], ['outside kernels', milliseconds(outside), ''], ...rows], [1, 2]);
}
