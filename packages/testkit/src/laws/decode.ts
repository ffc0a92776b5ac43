import { explicit, type Grid, type Input, range, sliceColumns } from '@posenc/core';
import { type Bench, decodeIn, logitsOf, tokensFor, tokensOf } from '../bench.ts';
import type { Case, LawSpec } from '../case.ts';
import { gapped } from './placing.ts';

const hint =
  'positions that restart in each call; keys cached unrotated, or rotated again; a bias row cut for square attention; a table or a sequence length taken from this call instead of from positions and seqLen';

export const cachedDecoding: LawSpec = {
  law: 'cached decoding',
  statement:
    'Reading a sequence in chunks of any size through the cache gives the logits of one full pass with the same seqLen: plain, left-padded, and at positions with gaps.',
  async check(c) {
    await plain(c, await c.bench(c.stacks.plain));
    const bench = await c.bench(c.stacks.grouped);
    await tokenByToken(c, bench);
    await padded(c, bench);
    await withGaps(c, bench);
  },
};

/** The session is longer than what is read, as when a prompt is still to be continued. */
const spare = 9;

async function plain(c: Case, bench: Bench) {
  const length = c.lengthFor(bench, c.settings.length);
  const tokens = tokensFor(bench, 2, length);
  const full = await logitsOf(bench, { tokens, seqLen: length + spare });
  for (const chunks of [filling(length, [length - 33, 1, 32]), filling(length, [1, 2, 3, 5, 8, 13, 21])]) {
    const parts = await decodeIn(bench, cut({ tokens }, chunks), length + spare);
    c.equal(parts, full, `decoding in chunks of ${chunks.join(', ')} with one pass (${bench.stack.name})`, hint);
  }
}

async function tokenByToken(c: Case, bench: Bench) {
  const length = c.lengthFor(bench, 12);
  const tokens = tokensFor(bench, 2, length);
  const full = await logitsOf(bench, { tokens, seqLen: length });
  const parts = await decodeIn(bench, cut({ tokens }, new Array(length).fill(1)), length);
  c.equal(parts, full, `decoding ${length} tokens one by one with one pass (${bench.stack.name})`, hint);
}

async function padded(c: Case, bench: Bench) {
  const length = c.lengthFor(bench);
  const pad = Math.floor(length / 4);
  const tokens = tokensFor(bench, 2, length);
  const mask = explicit([new Array(length).fill(1), Array.from({ length }, (_, t) => (t < pad ? 0 : 1))]);
  const full = await logitsOf(bench, { tokens, mask });
  const chunks = filling(length, [pad + 2, 1, 1]);
  const parts = await decodeIn(bench, cut({ tokens, mask }, chunks), [length, length - pad]);
  [0, pad].forEach((from, b) => {
    c.equal(
      tokensOf(parts, b, from),
      tokensOf(full, b, from),
      `decoding a batch with ${pad} tokens of left padding in row 1 with one pass, row ${b} (${bench.stack.name})`,
      `${hint}; positions counted over columns instead of real tokens`,
    );
  });
}

async function withGaps(c: Case, bench: Bench) {
  const { maxPosition } = bench.encoding.traits;
  const length = c.lengthFor(bench);
  const tokens = tokensFor(bench, 2, length);
  const positions = gapped(2, length, maxPosition);
  const seqLen = 3 * length;
  const full = await logitsOf(bench, { tokens, positions, seqLen });
  const parts = await decodeIn(bench, cut({ tokens, positions }, filling(length, [5, 1, 7])), seqLen);
  c.equal(parts, full, `decoding at positions with gaps, in chunks, with one pass (${bench.stack.name})`, hint);
}

/** These chunks, as far as they fit, and one for the rest. */
function filling(length: number, chunks: readonly number[]): number[] {
  const sizes: number[] = [];
  let left = length;
  for (const size of chunks) {
    if (size < 1 || size > left) continue;
    sizes.push(size);
    left -= size;
  }
  return left ? [...sizes, left] : sizes;
}

function cut(input: Input, chunks: readonly number[]): Input[] {
  let start = 0;
  return chunks.map((size) => {
    const slice = (grid: Grid) => sliceColumns(grid, start, start + size);
    const { mask, positions } = input;
    const part: Input = {
      tokens: slice(input.tokens),
      ...(mask && { mask: slice(mask) }),
      ...(positions && { positions: slice(positions) }),
    };
    start += size;
    return part;
  });
}

export const laterTokens: LawSpec = {
  law: 'later tokens',
  statement:
    'In a causal stack, with seqLen fixed, neither the tokens that come later nor their positions nor their number change the logits of earlier ones.',
  async check(c) {
    for (const stack of [c.stacks.plain, c.stacks.grouped]) {
      const bench = await c.bench(stack);
      const length = c.lengthFor(bench);
      const early = Math.floor(length / 2);
      const [tokens, others] = [tokensFor(bench, 2, length), tokensFor(bench, 2, length, 1)];
      const positions = range(length);
      const late = <T>(_: T, t: number) => t % length >= early;
      const changed = {
        tokens: { ...tokens, data: tokens.data.map((token, t) => (late(token, t) ? others.data[t]! : token)) },
        positions: explicit([Array.from(positions.data, (p, t) => (late(p, t) ? length - 1 - (t - early) : p))]),
      };
      const seqLen = length;
      const first = async (input: Input) => {
        const logits = await logitsOf(bench, { ...input, seqLen });
        return [0, 1].map((b) => tokensOf(logits, b, 0, early));
      };
      const wanted = await first({ tokens, positions });
      const readings: [string, Input][] = [
        ['other later tokens', { tokens: changed.tokens, positions }],
        ['later tokens at other positions', { tokens, positions: changed.positions }],
        ['no later tokens', { tokens: sliceColumns(tokens, 0, early), positions: range(early) }],
      ];
      for (const [what, input] of readings) {
        const got = await first(input);
        got.forEach((row, b) => {
          c.equal(
            row,
            wanted[b]!,
            `the first ${early} tokens' logits, row ${b}, with ${what} (${stack.name})`,
            'a statistic over all positions of the call (maximum, mean, centre) where seqLen is meant; content of later tokens read by a bias',
          );
        });
      }
    }
  },
};
