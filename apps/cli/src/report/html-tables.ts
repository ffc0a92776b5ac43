/** The report's tables: losses or exact matches by length with differences to the baseline, accuracy, perplexity, costs. */
import type { Cell, Comparison, PairedDifference, Row, Spread } from '@posenc/training';
import { grouped } from '../ui/numbers.ts';
import { divergedSeeds } from './finding.ts';
import { count, duration, fixed, percent } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { exactMatchOf, lossOf, type Measure } from './measure.ts';
import { cellAt, columnAt, compared, control, meanAt, type Reading, rowOf } from './reading.ts';
import { scrolling } from './scroll.ts';
import { swatch } from './swatch.ts';

export function lossTable(reading: Reading): Html {
  const { comparison, scored, problems } = reading;
  const measure = lossOf(reading);
  const tinted = `above (orange) or below (green) the baseline’s loss at ${reading.first}×`;
  const sentences = [
    `Loss in nats per ${scored}, ${spreadWords(reading)}.`,
    comparison.rows.length > 1 &&
      `Below it the difference to the baseline, ${comparison.baseline}, ${problems ? 'on the same problems' : 'at the same length'}${verdictWords(reading)}.`,
    `Colour: ${tinted}.`,
  ];
  return lengthTable(reading, {
    name: problems ? 'Loss by problem size' : 'Loss by evaluation length',
    className: 'main',
    caption: html`${sentences.filter((sentence) => sentence !== false).join(' ')}`,
    cell: (row, cell) =>
      scoreCell(reading, measure, row, cell, {
        color: lossTint(reading, cell.loss!.mean),
        remarks: [`perplexity ${perplexity(cell.loss!.mean)}`, `${bits(cell.loss!.mean)} bits per ${scored}`],
      }),
    foot: [dataControls(reading, (entry) => reading.loss(entry.loss)), shuffledRows(reading, measure, 'loss')],
  });
}

/** The main table of tasks of problems. */
export function exactMatchTable(reading: Reading): Html {
  const { comparison } = reading;
  const measure = exactMatchOf(reading);
  const sentences = [
    `Exact match: share of problems with every token of the answer right, ${spreadWords(reading)}.`,
    comparison.rows.length > 1 &&
      `Below it the difference to the baseline, ${comparison.baseline}, on the same problems in percentage points${verdictWords(reading)}.`,
    'Colour: the greener, the more.',
  ];
  return lengthTable(reading, {
    name: 'Exact match by problem size',
    className: 'main',
    caption: html`${sentences.filter((sentence) => sentence !== false).join(' ')}`,
    cell: (row, cell) =>
      scoreCell(reading, measure, row, cell, {
        color: `rgb(0 150 110 / ${(0.42 * cell.exactMatch!.mean).toFixed(3)})`,
        remarks: [`${percent(cell.accuracy!.mean)} of answer tokens right`],
      }),
    foot: [
      dataControls(reading, ({ exactMatch }) => (exactMatch === undefined ? '–' : percent(exactMatch))),
      shuffledRows(reading, measure, 'share'),
    ],
  });
}

const spreadWords = ({ seeds }: Reading) =>
  seeds > 1 ? `mean ± standard deviation over ${count(seeds, 'seed')}` : 'one seed';
const verdictWords = ({ seeds }: Reading) =>
  seeds > 1 ? ': mean ± half of the 95 % interval, and the verdict' : '. One seed: no verdict';

export function accuracyTable(reading: Reading): Html {
  const { scored, seeds, problems } = reading;
  return lengthTable(reading, {
    name: problems ? 'Accuracy by problem size' : 'Accuracy by evaluation length',
    caption: html`Accuracy: share of ${scored}s whose most likely prediction is right${problems && ' after the right ones before it'}${seeds > 1 && ', mean ± standard deviation over seeds'}.`,
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
  const { scored, problems } = reading;
  return lengthTable(reading, {
    name: problems ? 'Perplexity by problem size' : 'Perplexity by evaluation length',
    caption: html`Perplexity (e to the mean loss) and, below it, bits per ${scored} (mean loss ÷ ln 2).`,
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
  const { multiples, comparison } = reading;
  const heads = multiples.map(
    (k) => html`<th scope="col">${String(k)}×<span class="note">${columnAt(reading, k)}</span></th>`,
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

interface CellLook {
  readonly color: string;
  /** On hover, before the values of the seeds. */
  readonly remarks: readonly string[];
}

function scoreCell(reading: Reading, measure: Measure, row: Row, cell: Cell, { color, remarks }: CellLook): Html {
  const difference = measure.paired(cell);
  const bySeed = measure.at(row, cell.multiple)?.map(measure.text).join(', ');
  const title = [...remarks, reading.seeds > 1 && bySeed && `by seed: ${bySeed}`].filter(Boolean);
  return html`<td style="background-color:${color}" title="${title.join(' · ')}">${spreadText(measure.of(cell)!, measure.text, measure.size)}${
    difference && differenceNote(measure, difference)
  }</td>`;
}

function differenceNote({ difference, size, better }: Measure, { mean, margin, verdict }: PairedDifference): Html {
  const single = verdict === 'one seed: no verdict';
  const text = single ? difference(mean) : `${difference(mean)} ± ${size(margin)}`;
  const clear = verdict === 'lower' || verdict === 'higher';
  // The style sheet has green for "lower", as losses are.
  const className = clear ? (verdict === better ? 'lower' : 'higher') : 'unclear';
  return html`<span class="note ${className}"><span class="size">${text}</span> <span class="verdict">${single ? 'no verdict' : verdict}</span></span>`;
}

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
function lossTint(reading: Reading, mean: number): string {
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

/** Text: they see at most one token, so that one value holds at every length. Problems: the value at 1×. */
function dataControls(
  reading: Reading,
  value: (entry: Comparison['controls']['data'][number]) => Content,
): Html | undefined {
  const { comparison, multiples, unit, problems } = reading;
  if (comparison.controls.data.length === 0 || (problems && !multiples.includes(1))) return undefined;
  const remarks: Readonly<Record<string, string>> = problems
    ? {
        uniform: 'every answer token alike',
        unigram: 'by frequency in answers',
        bigram: 'by the token before',
        place: 'by place in the answer',
      }
    : { unigram: `from counts of ${unit}s`, bigram: `from counts of ${unit} pairs` };
  const rest =
    multiples.length > 1 &&
    html`<td class="aside" colspan="${String(multiples.length - 1)}">${problems ? 'at 1× only' : 'at every length'}</td>`;
  const rows = comparison.controls.data.map(
    (entry) =>
      html`<tr><th scope="row"><span class="name">${entry.name}</span><span class="note">${remarks[entry.name] ?? ''}</span></th><td>${value(entry)}</td>${rest}</tr>\n`,
  );
  const head = problems
    ? 'Controls: guesses that never read the question, on the same problems'
    : 'Controls: predictors without context, on the same targets';
  return html`${groupHead(reading, head)}${rows}`;
}

/** Weights as trained, position numbers shuffled at evaluation, at 1×. */
function shuffledRows(reading: Reading, measure: Measure, score: string): Html | undefined {
  const { comparison, multiples } = reading;
  const { shuffled } = comparison.controls;
  if (shuffled.length === 0 || !multiples.includes(1)) return undefined;
  const rows = shuffled.map((entry) => {
    const row = rowOf(reading, entry.name);
    const effect = row && compared(measure.shuffled(entry.name), measure.at(row, 1));
    const note = effect && differenceNote(measure, effect);
    const cells = multiples.map((k) =>
      k === 1 ? html`<td>${spreadText(measure.of(entry)!, measure.text, measure.size)}${note}</td>` : html`<td></td>`,
    );
    return html`<tr><th scope="row"><span class="name">${entry.name}</span></th>${cells}</tr>\n`;
  });
  return html`${groupHead(reading, `Controls: position numbers shuffled at evaluation; below the ${score} the difference to the same weights unshuffled`)}${rows}`;
}

const groupHead = ({ multiples }: Reading, text: string) =>
  html`<tr><th class="group" scope="rowgroup" colspan="${String(multiples.length + 1)}"><span>${text}</span></th></tr>\n`;

export function costTable(reading: Reading): Html {
  const { comparison, unit, problems } = reading;
  const baseline = comparison.costs.find((cost) => cost.name === comparison.baseline)?.medianStepSeconds ?? 0;
  const rows = comparison.costs.map(({ name, parameters, medianStepSeconds, tokensPerSecond }) => {
    const timed = medianStepSeconds > 0;
    return html`<tr><th scope="row">${swatch(reading, name)}<span class="name">${name}</span></th><td>${grouped(parameters.total)}</td><td>${grouped(parameters.encoding)}</td><td>${timed ? duration(medianStepSeconds) : '–'}</td><td>${timed && baseline > 0 ? `${fixed(medianStepSeconds / baseline, 2)}×` : '–'}</td><td>${timed ? grouped(Math.round(tokensPerSecond)) : '–'}</td></tr>\n`;
  });
  return scrolling(
    'Cost by encoding',
    html`<table>
<caption>Cost of training. Step: median time of one optimiser step (the median trial’s), with a whole batch. Relative: to the baseline, ${comparison.baseline}.${problems && ' Padding counts among the tokens.'}</caption>
<thead><tr><th scope="col">encoding</th><th scope="col">parameters</th><th scope="col">of these, in the encoding</th><th scope="col">step</th><th scope="col">relative</th><th scope="col">${unit}s per second</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`,
  );
}
