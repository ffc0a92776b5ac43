/** How to get these numbers again: command, suite, environment, trials. */
import { basename } from 'node:path';
import type { Comparison, TrialResult } from '@posenc/training';
import { grouped } from '../ui/numbers.ts';
import { duration, listed } from './format.ts';
import { type Html, html } from './html.ts';
import type { Reading } from './reading.ts';
import { scrolling } from './scroll.ts';

export interface Provenance {
  /** The command line; default: the environment's `command`, else one made from the suite's name. */
  readonly command?: string;
  /** By trial id: its folder relative to the report, to link to. */
  readonly trialFolders?: Readonly<Record<string, string>>;
}

export function reproduce(reading: Reading, { command, trialFolders = {} }: Provenance): Html {
  const { suite, environment, trials } = reading.comparison;
  const recorded = typeof environment.command === 'string' ? environment.command : undefined;
  const line = command ?? recorded ?? `posenc compare ${suite.name}.json`;
  const seconds = trials.reduce((sum, trial) => sum + trial.timing.trainSeconds, 0);
  return html`<pre><code>${line}</code></pre>
<p>Seeds: ${listed(suite.seeds.map(String), 20)}. ${grouped(trials.length)} trials, ${duration(seconds)} of training summed over them. The same suite, data and versions on the same backend and processor give the same losses, bit for bit; times differ.</p>
<p>Files of this run: <a href="results.json">results.json</a> (every number on this page), <a href="resolved.json">resolved.json</a> (the suite with all defaults), and one folder per trial with its configuration, metrics and checkpoints.</p>
${environmentTable(environment)}
<details><summary>Suite (JSON)</summary>
<p>A valid suite file; the path of the task’s file is shortened to its name.</p>
<pre><code>${JSON.stringify(portable(suite), null, 2)}</code></pre>
</details>
<details><summary>Trials</summary>
${trialTable(trials, trialFolders)}
</details>`;
}

/** Without the paths of one machine. */
function portable(suite: Comparison['suite']): object {
  const { file } = suite.task;
  return typeof file === 'string' ? { ...suite, task: { ...suite.task, file: basename(file) } } : suite;
}

function environmentTable({ backend, processor, versions, command: _, ...more }: Comparison['environment']): Html {
  const rows: [string, string][] = [
    ['backend', backend],
    ['processor', processor],
    ...Object.entries(more).map(([key, value]): [string, string] => [
      key.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase(),
      textOf(value),
    ]),
    [
      'versions',
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ],
  ];
  return scrolling(
    'Environment',
    html`<table class="plain">
<caption>Environment</caption>
<tbody>
${rows.filter(([, text]) => text !== '').map(([key, text]) => html`<tr><th scope="row">${key}</th><td>${text}</td></tr>\n`)}</tbody>
</table>`,
  );
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function trialTable(trials: readonly TrialResult[], folders: Readonly<Record<string, string>>): Html {
  const rows = trials.map(({ id, name, seed, status, steps, tokens, timing }) => {
    const folder = folders[id];
    const shown =
      folder === undefined ? html`<code>${id}</code>` : html`<a href="${relativeUrl(folder)}"><code>${id}</code></a>`;
    return html`<tr><th scope="row">${name}</th><td>${String(seed)}</td><td>${status}</td><td>${grouped(steps)}</td><td>${grouped(tokens)}</td><td>${duration(timing.trainSeconds)}</td><td>${shown}</td></tr>\n`;
  });
  return scrolling(
    'Trials',
    html`<table>
<caption>Trials. The id is a hash of everything that decides what a trial is: configuration, data, versions.</caption>
<thead><tr><th scope="col">encoding</th><th scope="col">seed</th><th scope="col">status</th><th scope="col">steps</th><th scope="col">tokens</th><th scope="col">training</th><th scope="col">id</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`,
  );
}

/** Never absolute, never a scheme: "./" first, every part escaped. */
const relativeUrl = (path: string): string =>
  `./${path
    .split(/[\\/]+/)
    .filter(Boolean)
    .map(encodeURIComponent)
    .join('/')}/`;
