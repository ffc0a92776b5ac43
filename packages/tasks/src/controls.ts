/**
 * The controls of a task of problems: how far one gets without reading the question. A answer symbols, n counts in training:
 *
 *     uniform  p(b)     = 1 / A                         exact match of an answer of m tokens: A^−m
 *     unigram  p(b)     = (n_b + 1)  / (N + A)          how often a symbol stands in answers
 *     bigram   p(b | a) = (n_ab + 1) / (n_a + A)        a: the token before, the last one of the question included
 *     place    p(b | i) = (n_ib + 1) / (n_i + A)        i: the place in the answer, so its guess is one and the same answer
 */
import type { Batch, Control } from './task.ts';

interface Place {
  readonly target: number;
  /** The token before. */
  readonly previous: number;
  /** How many scored places come before it in its row. */
  readonly index: number;
}

interface Row {
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
}

/** `numAnswers`: how many tokens may stand in answers. */
export function answerControls(training: readonly Row[], batches: readonly Batch[], numAnswers: number): Control[] {
  const seen = training.flatMap(placesOf);
  const rows = batches.flatMap(({ tokens, targets }) =>
    Array.from({ length: tokens.rows }, (_, b) => {
      const [from, to] = [b * tokens.cols, (b + 1) * tokens.cols];
      return placesOf({ tokens: tokens.data.subarray(from, to), targets: targets.data.subarray(from, to) });
    }),
  );
  const overall = tallyBy(seen, () => 0).get(0)!;
  const counting = (name: string, contextOf: (place: Place) => number) => {
    const tallies = tallyBy(seen, contextOf);
    return score(name, rows, (place) => {
      const tally = tallies.get(contextOf(place));
      return {
        probability: ((tally?.counts.get(place.target) ?? 0) + 1) / ((tally?.total ?? 0) + numAnswers),
        right: (tally ?? overall).favourite === place.target ? 1 : 0,
      };
    });
  };
  return [
    score('uniform', rows, () => ({ probability: 1 / numAnswers, right: 1 / numAnswers })),
    counting('unigram', () => 0),
    counting('bigram', ({ previous }) => previous),
    counting('place', ({ index }) => index),
  ];
}

function placesOf({ tokens, targets }: Row): Place[] {
  const places: Place[] = [];
  targets.forEach((target, t) => {
    if (target >= 0) places.push({ target, previous: tokens[t]!, index: places.length });
  });
  return places;
}

/** What followed one context in training. */
interface Tally {
  readonly counts: Map<number, number>;
  total: number;
  /** The most frequent target, of equally frequent ones the lowest id. */
  favourite: number;
}

function tallyBy(places: readonly Place[], contextOf: (place: Place) => number): Map<number, Tally> {
  const tallies = new Map<number, Tally>();
  for (const place of places) {
    const { target } = place;
    const tally = tallies.get(contextOf(place)) ?? { counts: new Map<number, number>(), total: 0, favourite: target };
    const count = (tally.counts.get(target) ?? 0) + 1;
    tally.counts.set(target, count);
    tally.total++;
    const most = tally.counts.get(tally.favourite)!;
    if (count > most || (count === most && target < tally.favourite)) tally.favourite = target;
    tallies.set(contextOf(place), tally);
  }
  return tallies;
}

/** `right`: the chance that the guess is right. Guesses at different places are independent. */
function score(
  name: string,
  rows: readonly (readonly Place[])[],
  predict: (place: Place) => { readonly probability: number; readonly right: number },
): Control {
  let [loss, right, exact, scored] = [0, 0, 0, 0];
  for (const places of rows) {
    const predictions = places.map(predict);
    loss -= predictions.reduce((sum, p) => sum + Math.log(p.probability), 0);
    right += predictions.reduce((sum, p) => sum + p.right, 0);
    exact += predictions.reduce((product, p) => product * p.right, 1);
    scored += places.length;
  }
  return { name, loss: loss / scored, accuracy: right / scored, exactMatch: exact / rows.length };
}
