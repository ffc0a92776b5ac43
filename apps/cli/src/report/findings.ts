/**
 * What a comparison shows, in sentences computed from its numbers. With two seeds and more, "clearly" always stands for a
 * paired 95 % interval that excludes the other side; with one seed the sentences only read the numbers out.
 */
import type { PairedDifference, Row } from '@posenc/training';
import { at, divergences, ends, type Finding, positionsUsed } from './finding.ts';
import { count, listed } from './format.ts';
import { problemFindings } from './problem-findings.ts';
import { compared, control, lossesAt, meanAt, type Reading, rowOf } from './reading.ts';

/** Nats a loss may rise with length and still be said to hold. */
const slack = 0.05;

export function findings(reading: Reading): Finding[] {
  if (reading.problems) return problemFindings(reading);
  return [
    lowestAtFirst(reading),
    holds(reading),
    beyond(reading),
    overridesHelp(reading),
    againstBigram(reading),
    positionsUsed(reading),
  ].filter((finding) => finding !== undefined);
}

function lowestAtFirst(reading: Reading): Finding | undefined {
  const { entries, first, loss, unit } = reading;
  const measured = entries.filter((row) => meanAt(row, first) !== undefined);
  if (measured.length === 0) return undefined;
  const [best, ...others] = ranked(measured, first);
  const value = `${loss(meanAt(best, first)!)} nats per ${unit}`;
  const title = at(reading, first);
  if (others.length === 0) return { title, text: `${best!.name} reaches ${value}.` };
  return { title, text: `${best!.name} has the lowest loss, ${value}. ${standing(reading, best!, others, first)}` };
}

/** How the other rows stand to the lowest one. */
function standing(reading: Reading, best: Row, others: readonly Row[], multiple: number): string {
  const { difference } = reading;
  const gaps = others.map((row) => ({
    row,
    gap: compared(lossesAt(reading, row, multiple), lossesAt(reading, best, multiple)),
  }));
  const named = (list: typeof gaps) => listed(list.map(({ row, gap }) => `${row.name} (${difference(gap!.mean)})`));
  if (reading.seeds === 1) return `Then come ${named(gaps)}.`;
  const clear = gaps.filter(({ gap }) => gap?.verdict === 'higher');
  const unclear = gaps.filter(({ gap }) => gap?.verdict === 'no clear difference');
  if (clear.length === 0) return `No clear difference between it and ${named(unclear)}.`;
  const higher = `Clearly higher: ${named(clear)}.`;
  return unclear.length === 0 ? higher : `${higher} No clear difference to it: ${named(unclear)}.`;
}

type Trend = { readonly row: Row; readonly mean: number; readonly growth: PairedDifference };

/** Rows that have a loss at both ends, with the paired difference between these. */
const trends = (reading: Reading): Trend[] =>
  ranked(reading.comparison.rows, reading.last).flatMap((row) => {
    const growth = compared(lossesAt(reading, row, reading.last), lossesAt(reading, row, reading.first));
    const mean = meanAt(row, reading.last);
    return growth && mean !== undefined ? [{ row, mean, growth }] : [];
  });

/** The whole interval below the slack, not only its middle. */
const doesHold = ({ growth }: Trend) => growth.mean + (growth.n > 1 ? growth.margin : 0) <= slack;
const doesClimb = (trend: Trend) =>
  !doesHold(trend) && (trend.growth.n > 1 ? trend.growth.verdict === 'higher' : trend.growth.mean > slack);

function holds(reading: Reading): Finding | undefined {
  const { first, last, loss } = reading;
  const all = trends(reading);
  if (first === last || all.length === 0) return undefined;
  const title = at(reading, last);
  const held = all.filter(doesHold);
  const limit = `${slack} nats above ${held.length === 1 ? 'its' : 'their'} own loss at ${first}×`;
  const names = listed(held.map(({ row, mean }) => `${row.name} (${loss(mean)})`));
  const who =
    held.length === 0
      ? `None still holds: all are, or may be, more than ${slack} nats above their own loss at ${first}×.`
      : `${names} still ${held.length === 1 ? 'holds' : 'hold'}: at most ${limit}.`;
  const [best, ...others] = all.map(({ row }) => row);
  if (others.length === 0) return { title, text: who };
  const lowest =
    held.length === 1 && held[0]!.row === best
      ? 'It also has the lowest loss.'
      : `The lowest loss is that of ${best!.name}, ${loss(meanAt(best, last)!)}.`;
  return { title, text: `${who} ${lowest}${tied(reading, best!, others)}` };
}

/** Only who cannot be told apart from the lowest: the distances of all others are in the table. */
function tied(reading: Reading, best: Row, others: readonly Row[]): string {
  if (reading.seeds === 1) return '';
  const ties = others.filter((row) => {
    const gap = compared(lossesAt(reading, row, reading.last), lossesAt(reading, best, reading.last));
    return gap?.verdict === 'no clear difference';
  });
  return ties.length > 0
    ? ` No clear difference to it: ${listed(ties.map((row) => row.name))}.`
    : ' All others are clearly higher.';
}

/** Whose loss climbs, who leaves all sense, who has no loss there. */
function beyond(reading: Reading): Finding | undefined {
  const { first, last } = reading;
  const [climbing, undefinedThere, diverged] = [climbs(reading), ends(reading), divergences(reading)];
  const sentences = [...climbing, ...undefinedThere, ...diverged];
  if (sentences.length === 0) return undefined;
  const missing = [undefinedThere.length > 0 && 'Undefined', diverged.length > 0 && 'Diverged'].filter(Boolean);
  const title = climbing.length > 0 ? `From ${first}× to ${last}×` : missing.join(', ');
  return { title, text: sentences.join(' ') };
}

function climbs(reading: Reading): string[] {
  const { first, last, loss, difference, seeds, multiples } = reading;
  if (first === last) return [];
  const all = trends(reading);
  const unigram = control(reading, 'unigram');
  const isAbove = (row: Row, multiple: number) => {
    const gap = compared(lossesAt(reading, row, multiple), unigram?.loss);
    return gap !== undefined && (seeds > 1 ? gap.verdict === 'higher' : gap.mean > 0);
  };
  const rising = all.filter(doesClimb);
  const blown = rising.filter(({ row }) => isAbove(row, last));
  const climbing = rising.filter((trend) => !blown.includes(trend));
  const unclear = all.filter((trend) => !doesHold(trend) && !doesClimb(trend));
  const grown = (list: readonly Trend[]) =>
    listed(list.map(({ row, growth }) => `${row.name} (${difference(growth.mean)})`));
  return [
    climbing.length > 0 && `The loss of ${grown(climbing)} climbs from ${first}× to ${last}×.`,
    blown.length > 0 &&
      `${listed(blown.map(({ row, mean }) => `${row.name} (${loss(mean)}, from ${multiples.find((k) => isAbove(row, k))}× on)`))} ${blown.length === 1 ? 'goes' : 'go'} above the unigram (${loss(unigram!.loss)}): worse than ignoring the context altogether.`,
    unclear.length > 0 && `No clear trend over ${count(seeds, 'seed')}: ${grown(unclear)}.`,
  ].filter((sentence) => sentence !== false);
}

function overridesHelp(reading: Reading): Finding | undefined {
  const { overrides, last, loss, difference, seeds } = reading;
  const effects = ranked(overrides, last).flatMap((row) => {
    const parent = rowOf(reading, row.trainedAs)!;
    const effect = compared(lossesAt(reading, row, last), lossesAt(reading, parent, last));
    if (!effect) return [];
    const verdict =
      seeds === 1
        ? `${difference(effect.mean)}`
        : effect.verdict === 'no clear difference'
          ? `no clear difference (${difference(effect.mean)})`
          : `clearly ${effect.verdict} (${difference(effect.mean)})`;
    return [`${row.name} ${loss(meanAt(row, last)!)} against ${row.trainedAs} as trained: ${verdict}`];
  });
  if (effects.length === 0) return undefined;
  const shown = effects.length > 6 ? [...effects.slice(0, 5), `${effects.length - 5} more in the table`] : effects;
  return { title: `Changed at evaluation, at ${last}×`, text: `${shown.join('; ')}. Same weights, no fine-tuning.` };
}

function againstBigram(reading: Reading): Finding | undefined {
  const { entries, first, loss, seeds, unit } = reading;
  const bigram = control(reading, 'bigram');
  if (!bigram) return undefined;
  const gaps = ranked(entries, first).flatMap((row) => {
    const gap = compared(lossesAt(reading, row, first), bigram.loss);
    return gap ? [{ row, gap, below: seeds > 1 ? gap.verdict === 'lower' : gap.mean < 0 }] : [];
  });
  if (gaps.length === 0) return undefined;
  const title = `Against the bigram (${loss(bigram.loss)})`;
  const clearly = seeds > 1 ? 'clearly ' : '';
  const below = gaps.filter((entry) => entry.below);
  const rest = gaps.filter((entry) => !entry.below);
  const named = (list: typeof gaps) => listed(list.map(({ row }) => `${row.name} (${loss(meanAt(row, first)!)})`));
  if (below.length === 0)
    return {
      title,
      text: `Not one is ${clearly}below it at ${first}×: nothing here has learnt more than which ${unit} follows which. This run shows noise; train longer before reading anything into the order.`,
    };
  const [most, least] = [below[0]!, below.at(-1)!];
  const range =
    below.length === 1
      ? `by ${loss(-most.gap.mean)}`
      : `by ${loss(-least.gap.mean)} (${least.row.name}) to ${loss(-most.gap.mean)} (${most.row.name})`;
  if (rest.length === 0) {
    const who = below.length === 1 ? `${most.row.name} ends` : `All ${below.length} end`;
    return {
      title,
      text: `${who} ${clearly}below it at ${first}×, ${range} nats: more is learnt than which ${unit} follows which.`,
    };
  }
  return {
    title,
    text: `${below.length} of ${gaps.length} end ${clearly}below it at ${first}×, ${range} nats. Not ${clearly}below: ${named(rest)}; for ${rest.length === 1 ? 'this one' : 'these'} the run shows noise.`,
  };
}

/** Ascending by mean loss at a multiple; rows without one last. */
function ranked(rows: readonly Row[], multiple: number): Row[] {
  const key = (row: Row) => meanAt(row, multiple) ?? Number.POSITIVE_INFINITY;
  return [...rows].sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
}
