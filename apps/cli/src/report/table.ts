/** The table that `compare` prints last: losses (of problems: exact matches) by length, marks for clear differences, controls. */
import { styleText } from 'node:util';
import type { Cell, Comparison } from '@posenc/training';
import { hanging, length } from '../ui/style.ts';
import { count } from './format.ts';
import { type Measure, measureOf } from './measure.ts';
import { cellAt, columnAt, compared, lengthAt, type Reading, read, rowOf } from './reading.ts';

export interface TableOptions {
  readonly color?: boolean;
  /** In characters; default 100. Narrower: shorter names first, then no spreads. */
  readonly width?: number;
}

type Style = Parameters<typeof styleText>[0];

interface Entry {
  readonly mean: string;
  readonly sd?: string;
  readonly mark?: string;
  readonly style?: Style;
}

interface Column {
  readonly width: number;
  /** Padded to the column's width, means and spreads below each other. */
  format(entry: Entry): string;
}

const marks = { lower: '↓', higher: '↑', 'no clear difference': '~', 'one seed: no verdict': undefined } as const;
const gap = 2;
const leastName = 12;
const mostName = 34;

/** Without a line break at its end. */
export function renderTable(comparison: Comparison, { color = false, width = 100 }: TableOptions = {}): string {
  const reading = read(comparison);
  const measure = measureOf(reading);
  const paint = (style: Style | undefined, text: string) =>
    color && style ? styleText(style, text, { validateStream: false }) : text;
  const rows = comparison.rows.map((row) => ({
    name: row.name === row.trainedAs ? row.name : `  ${row.name}`,
    entries: reading.multiples.map((k) => entryOf(measure, cellAt(row, k))),
  }));
  const controls = comparison.controls.data.map((control) => ({
    name: control.name,
    entry: { mean: measure.size(measure.ofControl(control) ?? Number.NaN) },
  }));
  const columnHead = (k: number) => (reading.problems ? columnAt(reading, k) : String(lengthAt(reading, k)));
  const heads = reading.multiples.map((k) => [`${k}×`, columnHead(k)] as const);

  const layOut = (spreads: boolean) =>
    heads.map((head, i) => {
      const own = rows.map(({ entries }) => entries[i]!);
      return columnOf(i === 0 ? [...own, ...controls.map(({ entry }) => entry)] : own, head, spreads);
    });
  const widthOf = (columns: readonly Column[]) => columns.reduce((sum, column) => sum + gap + column.width, 0);
  const title = reading.problems ? 'exactly right, %' : `nats per ${reading.unit}`;
  const names = [title, ...rows.map(({ name }) => name), ...controls.map(({ name }) => name)];
  const longest = Math.min(mostName, Math.max(...names.map(length)));
  const withSpreads = layOut(true);
  const spreads = leastName + widthOf(withSpreads) <= width;
  const columns = spreads ? withSpreads : layOut(false);
  const nameWidth = Math.max(leastName, Math.min(longest, width - widthOf(columns)));

  const line = (name: string, cells: readonly string[]) =>
    [pad(shorten(name, nameWidth), nameWidth), ...cells].join(' '.repeat(gap)).trimEnd();
  const head = (part: 0 | 1) => heads.map((text, i) => pad(text[part], columns[i]!.width));
  const rule = paint('dim', '─'.repeat(nameWidth + widthOf(columns)));
  const scope = reading.problems ? 'by guessing, at 1×' : 'at every length';
  const faded = [
    ...controls.map(({ name, entry }) => line(name, [columns[0]!.format(entry).trimEnd(), scope])),
    ...shuffledLines(reading, measure, width),
    ...legend(reading, spreads, width),
  ];
  return [
    paint('dim', line('', head(0))),
    paint('dim', line(title, head(1))),
    rule,
    ...rows.map(({ name, entries }) =>
      line(
        name,
        entries.map((entry, i) => paint(entry.style, columns[i]!.format(entry))),
      ),
    ),
    rule,
    ...faded.map((text) => paint('dim', text)),
  ].join('\n');
}

function entryOf(measure: Measure, cell: Cell | undefined): Entry {
  if (cell?.status !== 'ok')
    return { mean: cell?.status ?? 'undefined', style: cell?.status === 'diverged' ? 'yellow' : 'dim' };
  const { mean, sd, n } = measure.of(cell)!;
  const difference = measure.paired(cell);
  const clear = difference?.verdict === 'lower' || difference?.verdict === 'higher';
  return {
    mean: measure.size(mean),
    sd: n > 1 ? measure.size(sd) : undefined,
    mark: difference && marks[difference.verdict],
    style: clear ? (difference.verdict === measure.better ? 'green' : 'red') : undefined,
  };
}

/** Words such as "undefined" start where the means start, and do not widen these. */
function columnOf(entries: readonly Entry[], head: readonly string[], spreads: boolean): Column {
  const isNumber = ({ mean }: Entry) => /\d/.test(mean);
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(length));
  const mean = widest(entries.filter(isNumber).map((entry) => entry.mean));
  const sd = spreads ? widest(entries.map((entry) => entry.sd ?? '')) : 0;
  const marked = entries.some((entry) => entry.mark);
  const text = (entry: Entry) => {
    if (!isNumber(entry)) return entry.mean;
    const spread = sd === 0 ? '' : pad(entry.sd === undefined ? '' : ` ± ${entry.sd}`, sd + 3);
    return entry.mean.padStart(mean) + spread + (marked ? ` ${entry.mark ?? ' '}` : '');
  };
  const width = widest([...entries.map(text), ...head]);
  return { width, format: (entry) => pad(text(entry), width) };
}

const mostShuffled = 12;

/** One paragraph: they have a value at 1× only. */
function shuffledLines(reading: Reading, measure: Measure, width: number): string[] {
  const values = reading.comparison.controls.shuffled.map((shuffled) => {
    const { name } = shuffled;
    const row = rowOf(reading, name);
    const effect = row && compared(measure.shuffled(name), measure.at(row, 1));
    return `${shorten(name, 24)} ${measure.size(measure.of(shuffled)!.mean)}${effect ? ` (${measure.difference(effect.mean)})` : ''}`;
  });
  if (values.length > mostShuffled) values.splice(mostShuffled - 1, Infinity, 'more in the report');
  return values.length > 0 ? hanging('positions shuffled, 1×: ', values.join(' · '), width).split('\n') : [];
}

function legend({ comparison, seeds, problems }: Reading, spreads: boolean, width: number): string[] {
  const same = problems ? 'at the same size' : 'at the same length';
  const baseline = comparison.rows.length > 1;
  const compared = baseline ? ` Compared with ${comparison.baseline} ${same}` : '';
  const arrows = problems ? '↑ clearly higher, ↓ clearly lower' : '↓ clearly lower, ↑ clearly higher';
  const verdicts =
    seeds === 1
      ? [`One seed: no verdict on any difference.`]
      : [
          `Mean${spreads ? ' ± standard deviation' : ''} over ${count(seeds, 'seed')}.${spreads ? '' : ' Spreads are in the report.'}${compared && `${compared}, paired by seed, 95 %:`}`,
          ...(baseline ? [`${arrows}, ~ no clear difference.`] : []),
        ];
  const words = problems ? [...verdicts, 'Loss and accuracy per answer token are in the report.'] : verdicts;
  return words.flatMap((text) => hanging('', text, width).split('\n'));
}

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - length(text)));

/** With an ellipsis in the middle: names that share a beginning differ at their ends. */
function shorten(text: string, width: number): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  const head = Math.ceil((width - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (width - 1 - head)).join('')}`;
}
