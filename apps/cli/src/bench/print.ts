/** The tables that people read while it runs, and after. */
import { grouped } from '../ui/numbers.ts';
import { columns } from '../ui/style.ts';
import type { ContenderResult, EncodingRow, StandardStep } from './document.ts';
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

export function standardStepText({ contenders, reference, parameters, sizes }: StandardStep): string {
  const rows = contenders.map((c) =>
    c.status === 'absent'
      ? [c.name, '', '', `absent: ${c.reason.split('\n')[0]}`]
      : [contenderName(c), milliseconds(c.seconds.median), spreadText(c.ratio), `${c.version} ${c.variant}`],
  );
  const what = `Standard step: ${sizes.numLayers} layers, modelDim ${sizes.modelDim}, batch ${sizes.batch} × ${sizes.length}, ${grouped(parameters)} parameters`;
  return `${[what, ...columns([['', 'ms', `time to ${reference}`, ''], ...rows], [1])].join('\n')}\n`;
}
