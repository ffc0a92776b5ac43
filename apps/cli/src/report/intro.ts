/** The head of the report: what was trained and how it was scored, in plain words. */
import { basename } from 'node:path';
import { grouped } from '../ui/numbers.ts';
import { compact, count, listed, rough } from './format.ts';
import { type Html, html } from './html.ts';
import { columnAt, examplesPerTrial, lengthAt, type Reading } from './reading.ts';

export function headline(reading: Reading): string {
  const { entries, unit, first, last, comparison, problems } = reading;
  const what =
    entries.length === 1 ? `The encoding ${entries[0]!.name}` : `${grouped(entries.length)} positional encodings`;
  if (problems) {
    const sizes = problems.find(({ multiple }) => multiple === last)?.sizes;
    const largest = sizes ? `up to ${grouped(sizes.high)}` : columnAt(reading, last);
    return `${what}, trained on problems of ${columnAt(reading, 1)}${last > 1 ? `, tested on ${largest}` : ''}`;
  }
  const trained = `trained on ${count(comparison.suite.training.length, unit)}`;
  return first === last
    ? `${what}, ${trained}`
    : `${what}, ${trained}, evaluated on up to ${grouped(lengthAt(reading, last))}`;
}

export function whatWasTrained(reading: Reading): string {
  const { comparison, unit, entries, overrides } = reading;
  const { suite, environment } = comparison;
  const { length, batchSize, steps } = suite.training;
  const who = entries.length === 1 ? 'The encoding' : `Each of ${entries.length} encodings`;
  const changed =
    overrides.length > 0
      ? ` ${count(overrides.length, 'row')} in the tables ${overrides.length === 1 ? 'uses' : 'use'} such weights with another encoding config, set at evaluation only.`
      : '';
  const rows = reading.problems
    ? `${grouped(batchSize)} problems (rows of ${grouped(length)} ${unit}s, padding included)`
    : `${grouped(batchSize)} × ${grouped(length)} ${unit}s`;
  const { n, noun } = examplesPerTrial(reading);
  const seeds = `${count(suite.seeds.length, 'seed')} (${listed(suite.seeds.map(String), 10)})`;
  return `${who} was trained from scratch in the same ${modelWords(reading)} on ${taskWords(suite.task)}: ${grouped(steps)} steps of ${rows}, ${rough(n)} ${noun} per trial, ${seeds}, on the backend ${environment.backend}.${changed}`;
}

function modelWords({ comparison }: Reading): string {
  const { numLayers, modelDim, numHeads, causal } = comparison.suite.model as Readonly<Record<string, unknown>>;
  const totals = comparison.costs.map((cost) => cost.parameters.total).filter(Number.isFinite);
  const sizes = [
    typeof numLayers === 'number' && count(numLayers, 'layer'),
    typeof modelDim === 'number' && `width ${grouped(modelDim)}`,
    typeof numHeads === 'number' && count(numHeads, 'head'),
    totals.length > 0 &&
      `${rough(Math.min(...totals))} parameters${Math.max(...totals) > Math.min(...totals) ? ' and up' : ''}`,
  ].filter((size) => size !== false);
  const kind = causal === false ? 'bidirectional transformer' : 'causal transformer';
  return sizes.length > 0 ? `${kind} (${sizes.join(', ')})` : kind;
}

function taskWords(task: Reading['comparison']['suite']['task']): string {
  const file = typeof task.file === 'string' ? ` ${basename(task.file)}` : '';
  return task.type === 'text' ? `next-token prediction on the text${file}` : `the task “${task.type}”${file}`;
}

export function howEvaluated(reading: Reading): string {
  const { comparison, multiples, unit, first, last } = reading;
  if (reading.problems) return howTested(reading);
  const L = comparison.suite.training.length;
  const lengths = first === last ? `${first}×` : listed(multiples.map((k) => `${k}×`));
  return `Every model is scored at ${lengths} the training length on the same last ${grouped(L)} target ${unit}s of each window, for every context length, so longer context can only add information: a loss that rises with length is a failure to extrapolate, not harder text. Only the curve of loss by position uses non-overlapping windows.`;
}

function howTested(reading: Reading): string {
  const beyond = reading.multiples.filter((k) => k > 1);
  const sizes = listed(beyond.map((k) => columnAt(reading, k)));
  const larger =
    beyond.length > 0
      ? ` At ${listed(beyond.map((k) => `${k}×`))} the problems are larger than any in training (${sizes}): who still gets these right has found a rule that reaches beyond the sizes and positions it was trained on.`
      : '';
  const drawn = reading.multiples.includes(1)
    ? ` At 1× the problems are drawn as in training (${columnAt(reading, 1)}).`
    : '';
  return `Every model is scored on problems that training never meets. An answer counts as exactly right when every token of it is, which is what greedy decoding would write.${drawn}${larger}`;
}

export function facts(reading: Reading): Html {
  const { comparison, entries, overrides, seeds } = reading;
  const { suite, environment, costs } = comparison;
  const totals = costs.map((cost) => cost.parameters.total);
  const { n, noun } = examplesPerTrial(reading);
  const items: [string, string][] = [
    ['encodings', String(entries.length)],
    ...(overrides.length > 0 ? ([['set at evaluation', String(overrides.length)]] as [string, string][]) : []),
    ['seeds', String(seeds)],
    reading.problems
      ? ['problems in training', columnAt(reading, 1)]
      : ['training length', grouped(suite.training.length)],
    [`${noun} per trial`, compact(n)],
    ['parameters', compact(Math.max(...totals))],
    ['baseline', comparison.baseline],
    ['backend', environment.backend],
  ];
  return html`<dl class="facts">
${items.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}
