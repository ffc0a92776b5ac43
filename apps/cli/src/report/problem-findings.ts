/**
 * What a comparison on problems shows: who solves the task at the sizes of training, who beyond, who guesses. That nobody does
 * is a finding too. Of several seeds often some solve a task and others don't, so these are counted before means are named.
 */
import type { PairedDifference, Row } from '@posenc/training';
import { at, divergences, ends, type Finding, positionsUsed } from './finding.ts';
import { count, listed, percent } from './format.ts';
import { exactMatchOf, type Measure } from './measure.ts';
import { cellAt, compared, control, lossesAt, type Reading, rowOf } from './reading.ts';

/** Share of answers a model must have exactly right to be said to solve a task. */
const solved = 0.95;
const solvedWords = `at least ${100 * solved} %`;

export function problemFindings(reading: Reading): Finding[] {
  const { multiples, last } = reading;
  const [beyond] = multiples.filter((k) => k > 1);
  const ofAll = (k: number) => standing(reading, k, reading.comparison.rows);
  return [
    multiples.includes(1) ? standing(reading, 1, reading.entries) : undefined,
    ...(beyond === undefined
      ? []
      : (nobodyBeyond(reading) ?? [ofAll(beyond), last > beyond ? ofAll(last) : undefined])),
    missing(reading),
    beyond === undefined ? undefined : overridesHelp(reading, beyond),
    againstGuessing(reading),
    positionsUsed(reading),
  ].filter((finding) => finding !== undefined);
}

interface Scored {
  readonly row: Row;
  readonly mean: number;
  /** By seed. */
  readonly shares: readonly number[];
}

/** Descending; rows without an exact match at the multiple left out. */
function scored(reading: Reading, multiple: number, rows: readonly Row[]): Scored[] {
  const measure = exactMatchOf(reading);
  return rows
    .flatMap((row): Scored[] => {
      const shares = measure.at(row, multiple);
      return shares ? [{ row, shares, mean: shares.reduce((a, b) => a + b, 0) / shares.length }] : [];
    })
    .sort((a, b) => b.mean - a.mean);
}

const namesOf = (list: readonly Scored[]) => listed(list.map(({ row }) => row.name));
const withMeans = (list: readonly Scored[]) => listed(list.map(({ row, mean }) => `${row.name} (${percent(mean)})`));
const allZero = (list: readonly Scored[]) => list.every(({ shares }) => shares.every((share) => share === 0));

/** Who solves the problems of one column, in all seeds or in some, and who gets how many right. */
function standing(reading: Reading, multiple: number, rows: readonly Row[]): Finding | undefined {
  const { seeds } = reading;
  const all = scored(reading, multiple, rows);
  if (all.length === 0) return undefined;
  const title = at(reading, multiple);
  if (allZero(all))
    return {
      title,
      text: `0 % for ${all.length === 1 ? all[0]!.row.name : `all ${all.length}`}: no problem is exactly right.`,
    };
  const successes = ({ shares }: Scored) => shares.filter((share) => share >= solved).length;
  const solvers = all.filter((entry) => successes(entry) === seeds);
  const partly = all.filter((entry) => successes(entry) > 0 && successes(entry) < seeds);
  const others = all.filter((entry) => successes(entry) === 0);
  const [some, none] = [others.filter((entry) => !allZero([entry])), others.filter((entry) => allZero([entry]))];
  const inSeeds = seeds > 1 ? ' in every seed' : '';
  const sentences = [
    solvers.length > 0 &&
      `${withMeans(solvers)} ${solvers.length === 1 ? 'solves' : 'solve'} it: ${solvedWords} of the problems exactly right${inSeeds}.`,
    partly.length > 0 &&
      `In some seeds only: ${listed(partly.map((entry) => `${entry.row.name} (${successes(entry)} of ${count(seeds, 'seed')}, mean ${percent(entry.mean)})`))}.`,
    solvers.length + partly.length === 0 && `None solves it: that would be ${solvedWords} exactly right.`,
    some.length > 0 &&
      (solvers.length + partly.length > 0 ? `Not solved by ${withMeans(some)}.` : `Exactly right: ${withMeans(some)}.`),
    none.length > 0 && `Not one problem right: ${namesOf(none)}.`,
    seeds > 1 && all.length > 1 && tied(exactMatchOf(reading), multiple, all),
  ].filter((sentence) => sentence !== false);
  return { title, text: sentences.join(' ') };
}

/** Who cannot be told apart from the best: the distances of all others are in the table. */
function tied({ at: bySeed }: Measure, multiple: number, [best, ...others]: readonly Scored[]): string {
  const ties = others.filter(({ row }) => {
    const gap = compared(bySeed(row, multiple), bySeed(best!.row, multiple));
    return gap?.verdict === 'no clear difference';
  });
  return ties.length > 0
    ? `No clear difference to ${best!.row.name}: ${namesOf(ties)}.`
    : `All others are clearly below ${best!.row.name}.`;
}

/** One finding in place of one per column when all of these are zero; undefined when something is right somewhere. */
function nobodyBeyond(reading: Reading): Finding[] | undefined {
  const beyond = reading.multiples.filter((k) => k > 1);
  const nearest = beyond[0]!;
  const all = beyond.map((k) => scored(reading, k, reading.comparison.rows));
  if (all[0]!.length === 0 || !allZero(all.flat())) return undefined;
  const accuracies = all[0]!
    .map(({ row }) => ({ name: row.name, accuracy: cellAt(row, nearest)?.accuracy?.mean ?? 0 }))
    .sort((a, b) => b.accuracy - a.accuracy);
  const { name, accuracy } = accuracies[0]!;
  const perToken =
    accuracies.length === 1
      ? `Of single answer tokens ${percent(accuracy)} are right at ${nearest}×.`
      : `Of single answer tokens the most are right with ${name}, ${percent(accuracy)} at ${nearest}×.`;
  const columns = listed(beyond.map((k) => `${k}×`));
  const text = `0 % at ${columns} for ${namesOf(all[0]!)}: ${accuracies.length === 1 ? 'it does not extrapolate' : 'none extrapolates'}, not one larger problem is exactly right. ${perToken}`;
  return [{ title: 'Beyond training', text }];
}

function missing(reading: Reading): Finding | undefined {
  const [undefinedThere, diverged] = [ends(reading), divergences(reading)];
  const title = [undefinedThere.length > 0 && 'Undefined', diverged.length > 0 && 'Diverged']
    .filter(Boolean)
    .join(', ');
  return title === '' ? undefined : { title, text: [...undefinedThere, ...diverged].join(' ') };
}

function overridesHelp(reading: Reading, multiple: number): Finding | undefined {
  const measure = exactMatchOf(reading);
  const effects = scored(reading, multiple, reading.overrides).flatMap(({ row, mean }) => {
    const parent = rowOf(reading, row.trainedAs)!;
    const effect = compared(measure.at(row, multiple), measure.at(parent, multiple));
    return effect
      ? [`${row.name} ${percent(mean)} against ${row.trainedAs} as trained: ${verdict(effect, measure)}`]
      : [];
  });
  if (effects.length === 0) return undefined;
  const shown = effects.length > 6 ? [...effects.slice(0, 5), `${effects.length - 5} more in the table`] : effects;
  return {
    title: `Changed at evaluation, at ${multiple}×`,
    text: `${shown.join('; ')}. Same weights, no fine-tuning.`,
  };
}

function verdict(effect: PairedDifference, { difference }: Measure): string {
  const size = `${difference(effect.mean)} points`;
  if (effect.verdict === 'one seed: no verdict') return size;
  return effect.verdict === 'no clear difference'
    ? `no clear difference (${size})`
    : `clearly ${effect.verdict} (${size})`;
}

/** Against the control that gets the most right; of who is not above it, whether the loss shows that something is learnt. */
function againstGuessing(reading: Reading): Finding | undefined {
  const { comparison, entries, seeds, loss } = reading;
  const [best] = comparison.controls.data
    .flatMap(({ name, exactMatch, loss }) => (exactMatch === undefined ? [] : [{ name, share: exactMatch, loss }]))
    .sort((a, b) => b.share - a.share || a.loss - b.loss);
  const all = best && scored(reading, 1, entries);
  if (!all || all.length === 0) return undefined;
  const clearly = seeds > 1 ? 'clearly ' : '';
  const isBeyond = (values: readonly number[] | undefined, than: number | undefined, side: 'higher' | 'lower') => {
    const gap = compared(values, than);
    if (!gap) return false;
    return seeds > 1 ? gap.verdict === side : side === 'higher' ? gap.mean > 0 : gap.mean < 0;
  };
  const above = all.filter(({ shares }) => isBeyond(shares, best.share, 'higher'));
  const rest = all.filter((entry) => !above.includes(entry));
  const lowest = comparison.controls.data
    .filter((entry) => control(reading, entry.name))
    .reduce((least, entry) => (entry.loss < least.loss ? entry : least));
  const learnt = rest.filter(({ row }) => isBeyond(lossesAt(reading, row, 1), lowest.loss, 'lower'));
  const noise = rest.filter((entry) => !learnt.includes(entry));
  const reference = `the lowest loss of a control (${lowest.name}, ${loss(lowest.loss)})`;
  const sentences = [
    best.share >= 0.0005
      ? `The best guess that never reads the question (${best.name}) gets ${percent(best.share)} exactly right at 1×.`
      : 'Guesses that never read the question get 0.0 % exactly right at 1×.',
    above.length > 0 &&
      `${rest.length === 0 && all.length > 1 ? `All ${all.length} are` : `${namesOf(above)} ${above.length === 1 ? 'is' : 'are'}`} ${clearly}above that.`,
    learnt.length > 0 &&
      `Not ${clearly}above, but with a loss ${clearly}below ${reference}: ${namesOf(learnt)}; something is learnt.`,
    noise.length > 0 &&
      `Not ${clearly}above, nor with a loss ${clearly}below ${reference}: ${namesOf(noise)}; for ${noise.length === 1 ? 'this one' : 'these'} the run shows noise.`,
  ].filter((sentence) => sentence !== false);
  return { title: 'Against guessing', text: sentences.join(' ') };
}
