/** One self-contained HTML page of a comparison: no scripts, no requests, everything in the file. */
import type { Comparison } from '@posenc/training';
import { cautions } from './cautions.ts';
import type { LossCurve } from './curves.ts';
import { costFigure, exactMatchFigures, extrapolationFigures, lossCurveFigure, positionFigures } from './figures.ts';
import { findings } from './findings.ts';
import { type Html, html, raw } from './html.ts';
import { accuracyTable, costTable, exactMatchTable, lossTable, perplexityTable } from './html-tables.ts';
import { facts, headline, howEvaluated, whatWasTrained } from './intro.ts';
import { type Reading, read } from './reading.ts';
import { type Provenance, reproduce } from './reproduce.ts';
import { style } from './style.ts';

export type ReportOptions = Provenance;

/**
 * The report of a comparison as an HTML document. Equal arguments give equal bytes.
 *
 * @param curves training losses of the trials; those missing are left out and named
 */
export function renderReport(
  comparison: Comparison,
  curves: readonly LossCurve[],
  options: ReportOptions = {},
): string {
  const reading = read(comparison);
  const { name, description } = comparison.suite;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>${name}: ${headline(reading)}</title>
<style>${raw(style)}</style>
</head>
<body>
<main>
<header>
<p class="eyebrow">posenc compare · ${name}</p>
<h1>${headline(reading)}</h1>
${description !== undefined && html`<p class="lede">${description}</p>`}
<p>${whatWasTrained(reading)}</p>
<p>${howEvaluated(reading)}</p>
</header>
${facts(reading)}
${shows(reading)}
${care(reading, curves)}
${reading.problems ? ofProblems(reading) : ofText(reading)}
<h2 id="training">Training</h2>
${lossCurveFigure(reading, curves) ?? note('No training metrics were found, so there are no curves.')}
<h2 id="cost">Cost</h2>
${costFigure(reading)}
${costTable(reading)}
<h2 id="reproduce">How to reproduce this</h2>
${reproduce(reading, options)}
</main>
</body>
</html>
`.markup;
}

const ofText = (reading: Reading) => html`<h2 id="extrapolation">Extrapolation</h2>
${extrapolationFigures(reading)}
${lossTable(reading)}
<details><summary>Accuracy by evaluation length</summary>
${accuracyTable(reading)}
</details>
<details><summary>Perplexity and bits</summary>
${perplexityTable(reading)}
</details>
<h2 id="window">Within a window</h2>
${orNote(positionFigures(reading), 'There is no loss by position in these results.')}`;

const ofProblems = (reading: Reading) => html`<h2 id="extrapolation">Extrapolation to larger problems</h2>
${exactMatchFigures(reading)}
${exactMatchTable(reading)}
<details><summary>Loss by problem size</summary>
${extrapolationFigures(reading)}
${lossTable(reading)}
</details>
<details><summary>Accuracy per answer token</summary>
${accuracyTable(reading)}
</details>
<details><summary>Perplexity and bits</summary>
${perplexityTable(reading)}
</details>`;

function shows(reading: Reading): Html {
  const items = findings(reading).map(({ title, text }) => html`<li><b>${title}</b> <span>${text}</span></li>\n`);
  const single = reading.seeds === 1 && html`<p>One seed, so these are single measurements without a verdict.</p>\n`;
  return html`<section class="plate" aria-labelledby="shows">
<h2 id="shows">What it shows</h2>
${single}${items.length > 0 ? html`<ul class="findings">\n${items}</ul>` : note('No trial ended with a loss that could be compared.')}
</section>`;
}

function care(reading: Reading, curves: readonly LossCurve[]): Html {
  return html`<section class="plate care" aria-labelledby="care">
<h2 id="care">Read with care</h2>
<ul>
${cautions(reading, curves).map((text) => html`<li>${text}</li>\n`)}</ul>
</section>`;
}

const orNote = (figures: readonly Html[], text: string) => (figures.length > 0 ? figures : note(text));
const note = (text: string) => html`<p class="none">${text}</p>`;
