/** Laws about what an encoding says it reads, and how far it reaches. */
import { createTransformer, type Encoding, explicit, type Grid, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { type Bench, createBench, joinRows, logitsOf, tokensFor, tokensOf, withParams } from '../bench.ts';
import { type Case, deviation, type LawSpec } from '../case.ts';
import { stackOf } from '../stack.ts';
import { MOVED } from '../tolerance.ts';
import { gapped, shuffled } from './placing.ts';

export const positionSensitivity: LawSpec = {
  law: 'position sensitivity',
  statement:
    'With the trait readsPositions, permuting the position numbers of the tokens moves the logits; without it, any position numbers give the same bits.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const { maxPosition, readsPositions } = bench.encoding.traits;
      const length = c.lengthFor(bench);
      const seqLen = length;
      const tokens = tokensFor(bench, 2, length);
      const counted = await logitsOf(bench, { tokens, positions: range(length), seqLen });
      const placed = (positions: Grid) => logitsOf(bench, { tokens, positions, seqLen });
      if (readsPositions) {
        c.moved(
          await placed(shuffled(length)),
          counted,
          `logits at permuted position numbers with those in order (${stack.name})`,
          'positions made from the column index instead of the positions given; the trait readsPositions over-claimed',
        );
        continue;
      }
      const placings: [string, Grid][] = [
        ['permuted', shuffled(length)],
        ['all equal', explicit([new Array(length).fill(0)])],
        ['far and with gaps, of their own in each row', gapped(2, length, maxPosition)],
      ];
      for (const [what, positions] of placings)
        c.identical(
          await placed(positions),
          counted,
          `logits at position numbers that are ${what}, with those in order (${stack.name})`,
          'the trait readsPositions should be true',
        );
    }
  },
};

export const sequenceLength: LawSpec = {
  law: 'sequence length',
  statement:
    'With the trait readsSeqLen, some longer sequence length changes the logits of the same tokens; without it, any gives the same bits.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const { readsSeqLen } = bench.encoding.traits;
      const length = c.lengthFor(bench);
      const tokens = tokensFor(bench, 2, length);
      const told = (seqLen: number) => logitsOf(bench, { tokens, seqLen });
      const short = await told(length);
      const longest = 2 ** 20;
      if (readsSeqLen) {
        c.moved(
          await told(longest),
          short,
          `logits of ${length} tokens told a sequence length of ${longest}, with ${length} (${stack.name})`,
          'the length of the call, or the highest position in it, read instead of seqLen; the trait readsSeqLen over-claimed',
        );
        continue;
      }
      for (const seqLen of [length + 1, 8 * length, longest])
        c.identical(
          await told(seqLen),
          short,
          `logits of ${length} tokens told a sequence length of ${seqLen}, with ${length} (${stack.name})`,
          'the trait readsSeqLen should be true',
        );
    }
  },
};

export const maxPositionLaw: LawSpec = {
  law: 'maximal position',
  statement:
    'Every position below maxPosition works and its neighbour is told apart from it; maxPosition itself is refused with a PosencError before any hook runs.',
  async check(c) {
    const bench = await c.bench(c.stacks.plain);
    const { maxPosition } = bench.encoding.traits;
    if (maxPosition === Number.POSITIVE_INFINITY) return unlimited(c, bench);
    if (!Number.isInteger(maxPosition) || maxPosition < 1)
      c.fail('the trait maxPosition', String(maxPosition), 'it must be a positive integer or Infinity');
    await last(c, bench, maxPosition);
    await beyond(c, bench, maxPosition);
  },
};

async function unlimited(c: Case, bench: Bench) {
  const [length, far] = [8, 1_000_000];
  const logits = await logitsOf(bench, { tokens: tokensFor(bench, 2, length), positions: range(length, far) });
  if (!logits.data.every(Number.isFinite))
    c.fail(
      `logits at position ${far} (${bench.stack.name})`,
      'values that are not finite',
      'maxPosition is Infinity, but positions are not defined everywhere: overflow, or a table that ends',
    );
}

async function last(c: Case, bench: Bench, maxPosition: number) {
  const length = Math.min(8, maxPosition);
  const tokens = tokensFor(bench, 2, length);
  const end = range(length, maxPosition - length);
  const compared = `logits at positions up to ${maxPosition - 1}, the last one allowed (${bench.stack.name})`;
  const hint = 'maxPosition larger than the table (offset rows counted in, off by one), or an index clipped below it';
  const read = async (positions: Grid) => {
    try {
      return await logitsOf(bench, { tokens, positions });
    } catch (error) {
      return c.fail(compared, `an error: ${(error as Error).message}`, hint);
    }
  };
  const logits = await read(end);
  if (!logits.data.every(Number.isFinite)) c.fail(compared, 'values that are not finite', hint);
  if (!bench.encoding.traits.readsPositions || length < 2) return;
  const swapped = Array.from(end.data);
  swapped.splice(-2, 2, maxPosition - 1, maxPosition - 2);
  const { size } = deviation((await read(explicit([swapped]))).data, logits.data);
  if (size === 0) c.fail(`${compared} with the last two of them exchanged`, 'the same bits', hint);
}

async function beyond(c: Case, bench: Bench, maxPosition: number) {
  const tokens = tokensFor(bench, 1, 2);
  let called = false;
  const watched: Encoding = {
    ...bench.encoding,
    hooks: (params) => (at) => {
      called = true;
      return bench.encoding.hooks(params)(at);
    },
  };
  const model = createTransformer(bench.stack.config, watched);
  const compared = `a token at position ${maxPosition}, one too far (${bench.stack.name})`;
  const hint = 'an index clipped past the end of a table; a check that comes after the hooks';
  await withParams(model.params, bench.weights, (params) => {
    const before = tf.memory().numTensors;
    const positions = range(2, maxPosition - 1);
    c.refused(() => model.forward(params, { tokens, positions }), String(maxPosition), compared, hint);
    if (called) c.fail(compared, 'hooks were called before it was refused', hint);
    const kept = tf.memory().numTensors - before;
    if (kept) c.fail(compared, `${kept} tensors were left behind`, hint);
  });
}

export const stackKind: LawSpec = {
  law: 'causal or bidirectional',
  statement:
    'With the trait requiresCausal, a bidirectional stack is refused with a PosencError; without it, it works, and positions on both sides of a token matter to it, or on neither.',
  async check(c) {
    const { bidirectional } = c.stacks;
    const causal = await c.bench(c.stacks.plain);
    if (causal.encoding.traits.requiresCausal)
      return c.refused(
        () => createTransformer(bidirectional.config, c.subject.create(bidirectional.dims)),
        'causal',
        'creating a bidirectional stack',
        'a check of dims.causal that is missing or says no reason',
      );
    if (!causal.encoding.traits.readsPositions) return;
    // One layer: in a second, a token would see positions it cannot see itself through its neighbours.
    const stack = stackOf(c.settings, { causal: false, numHeads: bidirectional.dims.numHeads, numLayers: 1 });
    const bench = createBench(stack, c.subject.create(stack.dims), c.settings.seed);
    const length = c.lengthFor(bench);
    const middle = Math.floor(length / 2);
    if (length < 4) return;
    const tokens = tokensFor(bench, 2, length);
    const read = (positions: Grid) => logitsOf(bench, { tokens, positions, seqLen: length });
    const before = await read(range(length));
    const [early, late] = [
      { name: 'earlier', moved: shuffled(length, 0, middle), seen: [middle, length] },
      { name: 'later', moved: shuffled(length, middle), seen: [0, middle] },
    ] as const;
    const effectOf = async ({ moved, seen: [from, to] }: typeof early | typeof late) => {
      const after = await read(moved);
      const effects = [0, 1].map((b) =>
        deviation(tokensOf(after, b, from, to).data, tokensOf(before, b, from, to).data),
      );
      return Math.min(...effects.map(({ size }) => size));
    };
    const effects = [await effectOf(early), await effectOf(late)] as const;
    const least = MOVED * c.tolerance;
    // An encoding may read a token's own position only (a temperature): then neither side matters.
    if (Math.max(...effects) < least) return;
    effects.forEach((effect, i) => {
      const { name, seen } = i === 0 ? early : late;
      if (!(effect >= least))
        c.fail(
          `logits of tokens ${seen[0]} … ${seen[1] - 1} with the position numbers of all ${name} tokens permuted (${bench.stack.name})`,
          `they differ by ${effect.toExponential(1)} at most, and ${effects[1 - i]!.toExponential(1)} from those on the other side; ${least.toExponential(1)} or more is wanted`,
          'a rule made for causal stacks (one side of offsets collapsed into one bucket, or distances cut at 0) used in a bidirectional one',
        );
    });
  },
};

export const tokenOrder: LawSpec = {
  law: 'token order',
  statement:
    'In a bidirectional stack the order in which tokens are given means nothing: reordering tokens together with their position numbers reorders the logits.',
  async check(c) {
    const stack = c.stacks.bidirectional;
    if (!c.serving().includes(stack)) return;
    const bench = await c.bench(stack);
    const length = c.lengthFor(bench);
    const order = Array.from(shuffled(length).data);
    const tokens = tokensFor(bench, 2, length);
    const given = await logitsOf(bench, { tokens, positions: range(length) });
    const reordered = await logitsOf(bench, {
      tokens: explicit([0, 1].map((b) => order.map((t) => tokens.data[b * length + t]!))),
      positions: explicit([order]),
    });
    const follow = (b: number) => ({ ...joinRows(order.map((t) => tokensOf(given, b, t, t + 1))), batch: 1, length });
    c.equal(
      reordered,
      joinRows([follow(0), follow(1)]),
      `logits of reordered tokens with the reordered logits (${stack.name})`,
      'the place in the row read instead of the position; a bias that takes one offset per diagonal for granted',
    );
  },
};
