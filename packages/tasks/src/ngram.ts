/**
 * The controls of a text task: how well counting predicts the next token.
 *
 *     unigram  p(b)     = (n_b + 1)  / (N + V)
 *     bigram   p(b | a) = (n_ab + 1) / (n_a + V)        n: counts in training, a: the token before; add-one smoothing (Laplace)
 */
import type { Batch, Control } from './task.ts';

/** How often tokens and pairs of neighbours occur in a text. */
export interface NgramCounts {
  readonly vocabSize: number;
  /** n_b, of every token that has one before it. */
  readonly next: Float64Array;
  /** n_a, of every token that has one after it. */
  readonly previous: Float64Array;
  /** n_ab at key a·V + b; absent: 0. */
  readonly pairs: ReadonlyMap<number, number>;
}

/** Counts them in one pass over token ids below `vocabSize`. */
export function countNgrams(ids: Int32Array, vocabSize: number): NgramCounts {
  const [next, previous] = [new Float64Array(vocabSize), new Float64Array(vocabSize)];
  const pairs = new Map<number, number>();
  for (let i = 1; i < ids.length; i++) {
    const [a, b] = [ids[i - 1]!, ids[i]!];
    previous[a]!++;
    next[b]!++;
    pairs.set(a * vocabSize + b, (pairs.get(a * vocabSize + b) ?? 0) + 1);
  }
  return { vocabSize, next, previous, pairs };
}

/** Both controls on the scored targets of these batches. Of equally likely predictions the lowest id counts. */
export function ngramControls(counts: NgramCounts, batches: readonly Batch[]): Control[] {
  const { vocabSize: V, next, previous, pairs } = counts;
  const N = next.reduce((sum, n) => sum + n, 0);
  const favourite = next.indexOf(next.reduce((a, b) => Math.max(a, b)));
  const favouriteAfter = likeliestAfter(counts);
  const unigram = { name: 'unigram', loss: 0, accuracy: 0 };
  const bigram = { name: 'bigram', loss: 0, accuracy: 0 };
  let scored = 0;
  for (const { tokens, targets } of batches)
    targets.data.forEach((b, i) => {
      if (b < 0) return;
      const a = tokens.data[i]!;
      scored++;
      unigram.loss -= Math.log((next[b]! + 1) / (N + V));
      bigram.loss -= Math.log(((pairs.get(a * V + b) ?? 0) + 1) / (previous[a]! + V));
      if (b === favourite) unigram.accuracy++;
      if (b === favouriteAfter[a]) bigram.accuracy++;
    });
  return [unigram, bigram].map(({ name, loss, accuracy }) => ({
    name,
    loss: loss / scored,
    accuracy: accuracy / scored,
  }));
}

function likeliestAfter({ vocabSize: V, pairs }: NgramCounts): Int32Array {
  const [best, most] = [new Int32Array(V), new Float64Array(V)];
  for (const [key, n] of pairs) {
    const [a, b] = [Math.floor(key / V), key % V];
    if (n > most[a]! || (n === most[a] && b < best[a]!)) {
      most[a] = n;
      best[a] = b;
    }
  }
  return best;
}
