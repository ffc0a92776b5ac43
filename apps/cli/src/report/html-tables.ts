/** The report's tables: losses by length with differences to the baseline, accuracy, perplexity, costs. */
import type { Cell, Comparison, PairedDifference, Row, Spread } from '@posenc/training';
import { grouped } from '../ui/numbers.ts';
import { divergedSeeds } from './findings.ts';
import { count, duration, fixed, percent } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import {
  cellAt,
  compared,
  control,
  differenceOf,
  lengthAt,
  lossesAt,
  meanAt,
  type Reading,
  rowOf,
  shuffledLosses,
} from './reading.ts';
import { scrolling } from './scroll.ts';
import { swatch } from './swatch.ts';

export function lossTable(reading: Reading): Html {
  const { comparison, unit, seeds } = reading;
  const spreadWords = seeds > 1 ? `mean ± standard deviation over ${count(seeds, 'seed')}` : 'one seed';
  const verdictWords = seeds > 1 ? ': mean ± half of the 95 % interval, and the verdict' : '. One seed: no verdict';
  const sentences = [
    `Loss in nats per ${unit}, ${spreadWords}.`,
    comparison.rows.length > 1 &&
      `Below it the difference to the baseline, ${comparison.baseline}, at the same length${verdictWords}.`,
    `Colour: above (orange) or below (green) the baseline’s loss at ${reading.first}×.`,
  ];
  return lengthTable(reading, {
    name: 'Loss by evaluation length',
    className: 'main',
    caption: html`${sentences.filter((sentence) => sentence !== false).join(' ')}`,
    cell: (row, cell) => lossCell(reading, row, cell),
    foot: [dataControls(reading, (entry) => reading.loss(entry.loss)), shuffledRows(reading)],
  });
}

export function accuracyTable(reading: Reading): Html {
  const { unit, seeds } = reading;
  return lengthTable(reading, {
    name: 'Accuracy by evaluation length',
    caption: html`Accuracy: share of ${unit}s whose most likely prediction is right${seeds > 1 && ', mean ± standard deviation over seeds'}.`,
    cell: (_, cell) =>
      html`<td>${spreadText(
        cell.accuracy!,
        (x) => percent(x),
        (x) => fixed(100 * x, 1),
      )}</td>`,
    foot: [dataControls(reading, (entry) => percent(entry.accuracy))],
  });
}

export function perplexityTable(reading: Reading): Html {
  const { unit } = reading;
  return lengthTable(reading, {
    name: 'Perplexity by evaluation length',
    caption: html`Perplexity (e to the mean loss) and, below it, bits per ${unit} (mean loss ÷ ln 2).`,
    cell: (_, cell) =>
      html`<td>${perplexity(cell.loss!.mean)}<span class="note">${bits(cell.loss!.mean)} bits</span></td>`,
    foot: [
      dataControls(
        reading,
        (entry) => html`${perplexity(entry.loss)}<span class="note">${bits(entry.loss)} bits</span>`,
      ),
    ],
  });
}

interface LengthTable {
  readonly name: string;
  readonly className?: string;
  readonly caption: Html;
  /** For cells with values; the others say why they have none. */
  readonly cell: (row: Row, cell: Cell) => Html;
  readonly foot: readonly (Html | undefined)[];
}

/** Rows × evaluation lengths; an override stands indented below the entry whose weights it uses. */
function lengthTable(reading: Reading, { name, className = '', caption, cell, foot }: LengthTable): Html {
  const { multiples, unit, comparison } = reading;
  const heads = multiples.map(
    (k) => html`<th scope="col">${String(k)}×<span class="note">${count(lengthAt(reading, k), unit)}</span></th>`,
  );
  const bodies = reading.entries.map((entry) => {
    const rows = comparison.rows.filter((row) => row.trainedAs === entry.name);
    const lines = rows.map((row) => {
      const cells = multiples.map((k) => {
        const at = cellAt(row, k);
        return at?.status === 'ok' ? cell(row, at) : emptyCell(reading, row, at);
      });
      return html`<tr${row !== entry && html` class="override"`}>${rowHead(reading, row)}${cells}</tr>\n`;
    });
    return html`<tbody>\n${lines}</tbody>\n`;
  });
  const controls = foot.filter((part) => part !== undefined);
  const footer = controls.length > 0 && html`<tfoot>\n${controls}</tfoot>\n`;
  return scrolling(
    name,
    html`<table class="lengths ${className}">
<caption>${caption}</caption>
<thead><tr><th scope="col">encoding</th>${heads}</tr></thead>
${bodies}${footer}</table>`,
  );
}

function rowHead(reading: Reading, row: Row): Html {
  const { baseline } = reading.comparison;
  const isOverride = row.name !== row.trainedAs;
  const remark = isOverride
    ? `weights of ${row.trainedAs}`
    : [row.name === baseline && 'baseline', isNope(row) && 'control: no positions'].filter(Boolean).join(' · ');
  return html`<th scope="row" title="${JSON.stringify(row.encoding)}">${swatch(reading, row.name)}<span class="name">${row.name}</span>${remark !== '' && html`<span class="note">${remark}</span>`}</th>`;
}

const isNope = (row: Row) => (row.encoding as { type?: unknown }).type === 'nope';

function lossCell(reading: Reading, row: Row, cell: Cell): Html {
  const { loss, multiple } = cell;
  const difference = differenceOf(cell);
  const spread = loss!;
  const seedValues = lossesAt(reading, row, multiple)?.map(reading.loss).join(', ');
  const title = [
    `perplexity ${perplexity(spread.mean)}`,
    `${bits(spread.mean)} bits per ${reading.unit}`,
    reading.seeds > 1 && seedValues && `by seed: ${seedValues}`,
  ].filter(Boolean);
  return html`<td style="background-color:${tint(reading, spread.mean)}" title="${title.join(' · ')}">${spreadText(spread, reading.loss)}${
    difference && differenceNote(reading, difference)
  }</td>`;
}

function differenceNote({ difference: format, loss }: Reading, { mean, margin, verdict }: PairedDifference): Html {
  const single = verdict === 'one seed: no verdict';
  const size = single ? format(mean) : `${format(mean)} ± ${loss(margin)}`;
  const words = single ? 'no verdict' : verdict;
  return html`<span class="note ${verdictClass[verdict]}"><span class="size">${size}</span> <span class="verdict">${words}</span></span>`;
}

const verdictClass = {
  lower: 'lower',
  higher: 'higher',
  'no clear difference': 'unclear',
  'one seed: no verdict': 'unclear',
} as const;

function emptyCell(reading: Reading, row: Row, cell: Cell | undefined): Html {
  if (cell?.status === 'diverged') {
    const seeds = reading.seeds > 1 && html`<span class="note">${divergedSeeds(reading, row.trainedAs)}</span>`;
    return html`<td class="none" title="training blew up: the loss was no longer a number">diverged${seeds}</td>`;
  }
  return html`<td class="none" title="past the last position this encoding is defined at">undefined</td>`;
}

function spreadText({ mean, sd, n }: Spread, format: (value: number) => string, formatSd = format): Html {
  return html`<span class="size">${format(mean)}${n > 1 && html` <span class="sd">± ${formatSd(sd)}</span>`}</span>`;
}

/** Green below, orange above the baseline's loss at 1×; the square root lets small differences be seen. */
function tint(reading: Reading, mean: number): string {
  const { comparison, entries, first } = reading;
  const known = entries.flatMap((row) => meanAt(row, first) ?? []);
  const reference = meanAt(rowOf(reading, comparison.baseline), first) ?? Math.min(...known);
  const scale = Math.max((control(reading, 'unigram')?.loss ?? 0) - reference, 0.25 * Math.abs(reference), 1e-6);
  const distance = Number.isFinite(mean) ? Math.max(-1, Math.min(1, (mean - reference) / scale)) : 1;
  const strength = (0.42 * Math.sqrt(Math.abs(distance))).toFixed(3);
  return distance < 0 ? `rgb(0 150 110 / ${strength})` : `rgb(230 110 20 / ${strength})`;
}

const perplexity = (loss: number) => fixed(Math.exp(loss), 2);
const bits = (loss: number) => fixed(loss / Math.LN2, 2);

/** Unigram, bigram …: they see at most one token, so that one value holds at every length. */
function dataControls(
  reading: Reading,
  value: (entry: Comparison['controls']['data'][number]) => Content,
): Html | undefined {
  const { comparison, multiples, unit } = reading;
  const remarks: Readonly<Record<string, string>> = {
    unigram: `from counts of ${unit}s`,
    bigram: `from counts of ${unit} pairs`,
  };
  if (comparison.controls.data.length === 0) return undefined;
  const rest =
    multiples.length > 1 && html`<td class="aside" colspan="${String(multiples.length - 1)}">at every length</td>`;
  const rows = comparison.controls.data.map(
    (entry) =>
      html`<tr><th scope="row"><span class="name">${entry.name}</span><span class="note">${remarks[entry.name] ?? ''}</span></th><td>${value(entry)}</td>${rest}</tr>\n`,
  );
  return html`${groupHead(reading, 'Controls: predictors without context, on the same targets')}${rows}`;
}

/** Weights as trained, position numbers shuffled at evaluation, at 1×. */
function shuffledRows(reading: Reading): Html | undefined {
  const { comparison, multiples } = reading;
  const { shuffled } = comparison.controls;
  if (shuffled.length === 0 || !multiples.includes(1)) return undefined;
  const rows = shuffled.map((entry) => {
    const row = rowOf(reading, entry.name);
    const effect = row && compared(shuffledLosses(reading, entry.name), lossesAt(reading, row, 1));
    const note = effect && differenceNote(reading, effect);
    const cells = multiples.map((k) =>
      k === 1 ? html`<td>${spreadText(entry.loss, reading.loss)}${note}</td>` : html`<td></td>`,
    );
    return html`<tr><th scope="row"><span class="name">${entry.name}</span></th>${cells}</tr>\n`;
  });
  return html`${groupHead(reading, 'Controls: position numbers shuffled at evaluation; below the loss the difference to the same weights unshuffled')}${rows}`;
}

const groupHead = ({ multiples }: Reading, text: string) =>
  html`<tr><th class="group" scope="rowgroup" colspan="${String(multiples.length + 1)}"><span>${text}</span></th></tr>\n`;

export function costTable(reading: Reading): Html {
  const { comparison, unit } = reading;
  const baseline = comparison.costs.find((cost) => cost.name === comparison.baseline)?.medianStepSeconds ?? 0;
  const rows = comparison.costs.map(({ name, parameters, medianStepSeconds, tokensPerSecond }) => {
    const timed = medianStepSeconds > 0;
    return html`<tr><th scope="row">${swatch(reading, name)}<span class="name">${name}</span></th><td>${grouped(parameters.total)}</td><td>${grouped(parameters.encoding)}</td><td>${timed ? duration(medianStepSeconds) : '–'}</td><td>${timed && baseline > 0 ? `${fixed(medianStepSeconds / baseline, 2)}×` : '–'}</td><td>${timed ? grouped(Math.round(tokensPerSecond)) : '–'}</td></tr>\n`;
  });
  return scrolling(
    'Cost by encoding',
    html`<table>
<caption>Cost of training. Step: median time of one optimiser step (the median trial’s), with a whole batch. Relative: to the baseline, ${comparison.baseline}.</caption>
<thead><tr><th scope="col">encoding</th><th scope="col">parameters</th><th scope="col">of these, in the encoding</th><th scope="col">step</th><th scope="col">relative</th><th scope="col">${unit}s per second</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`,
  );
}
