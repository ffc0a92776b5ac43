/** From what a caller gives (tokens, maybe padding, segments, positions, a cache) to the positions of one forward call. */
import type { Cache } from './cache.ts';
import type { ModelConfig } from './config.ts';
import type { Grid, Positions } from './encoding.ts';
import { PosencError } from './errors.ts';
import { at, concatColumns, extent, fromMask, range, sliceColumns } from './positions.ts';

/** A batch of tokens, on the host. */
export interface Input {
  /** [B, T] */
  readonly tokens: Grid;
  /** [B|1, T] 1 = real token, 0 = padding. */
  readonly mask?: Grid;
  /** [B|1, T] packing: tokens see only their own segment. Not together with a cache. */
  readonly segments?: Grid;
  /** [B|1, T] kind of each token, for models that have kinds (BERT: first or second sentence); default: all 0. */
  readonly types?: Grid;
  /** [B|1, T]; default: 0, 1, … counted over real tokens, going on where a cache ends. */
  readonly positions?: Grid;
  /** Length of every token's own sequence, for encodings that read it; default: its last position + 1. A cache has its own. */
  readonly seqLen?: number;
}

/** Where the tokens of a call stand, those of the cache included. */
export interface Placed {
  readonly positions: Positions;
  /** [B|1, Tk] of all keys in view. */
  readonly real?: Grid;
  readonly segments?: Grid;
}

type Sizes = Pick<ModelConfig, 'vocabSize' | 'numTokenTypes'>;

/** Throws PosencError when tokens or positions cannot be served, before any kernel runs. */
export function place(input: Input, { vocabSize, numTokenTypes }: Sizes, maxPosition: number, cache?: Cache): Placed {
  const { tokens, segments, types } = input;
  if (tokens.cols === 0 || tokens.rows === 0) throw new PosencError('the input holds no tokens: give at least one');
  for (const [name, grid] of Object.entries({ mask: input.mask, segments, types, positions: input.positions }))
    if (grid && (grid.cols !== tokens.cols || (grid.rows !== 1 && grid.rows !== tokens.rows)))
      throw new PosencError(
        `${name} is [${grid.rows}, ${grid.cols}] but tokens are [${tokens.rows}, ${tokens.cols}]: same columns, same rows or one row`,
      );
  const [lowest, highest] = extent(tokens);
  if (lowest < 0 || highest >= vocabSize)
    throw new PosencError(
      `token id ${lowest < 0 ? lowest : highest} is outside the vocabulary: allowed are 0 to ${vocabSize - 1}`,
    );
  if (types) checkTypes(types, numTokenTypes);
  if (cache && segments)
    throw new PosencError('packed segments cannot be decoded with a cache: give each sequence its own row');

  const past = cache?.positions ?? range(0);
  const real = joinMasks(input.mask, cache, tokens.cols);
  const total = past.cols + tokens.cols;
  const query = input.positions ?? sliceColumns(countReal(real ?? ones(total), past), past.cols, total);
  const key = past.cols ? concatColumns(past, query) : query;
  const seqLen = cache
    ? repeatColumn(cache.seqLen, tokens.cols)
    : sequenceLengths(query, input.mask, segments, input.seqLen);
  checkRange(query, maxPosition, cache);
  return { positions: { query, key, seqLen }, real, segments };
}

function checkTypes(types: Grid, numTokenTypes: number | undefined): void {
  if (numTokenTypes === undefined)
    throw new PosencError('this model knows no token types: leave `types` out, or set numTokenTypes');
  const [lowest, highest] = extent(types);
  if (lowest < 0 || highest >= numTokenTypes)
    throw new PosencError(
      `token type ${lowest < 0 ? lowest : highest} does not exist: allowed are 0 to ${numTokenTypes - 1}`,
    );
}

function joinMasks(mask: Grid | undefined, cache: Cache | undefined, cols: number): Grid | undefined {
  if (!cache || cache.positions.cols === 0) return mask;
  if (!mask && !cache.real) return undefined;
  return concatColumns(cache.real ?? ones(cache.positions.cols), mask ?? ones(cols));
}

/** Counts on from explicit past positions when there are any: position = 1 + highest real one before it. */
function countReal(real: Grid, past: Grid): Grid {
  if (past.cols === 0) return fromMask(real);
  const rows = Math.max(real.rows, past.rows);
  const data = new Int32Array(rows * real.cols);
  for (let b = 0; b < rows; b++) {
    let next = 0;
    for (let t = 0; t < real.cols; t++) {
      const counted = t < past.cols ? at(past, b, t) : at(real, b, t) ? next : 0;
      data[b * real.cols + t] = counted;
      if (at(real, b, t)) next = Math.max(next, counted + 1);
    }
  }
  return { rows, cols: real.cols, data };
}

const ones = (cols: number): Grid => ({ rows: 1, cols, data: new Int32Array(cols).fill(1) });

const repeatColumn = (column: Grid, cols: number): Grid => ({
  rows: column.rows,
  cols,
  data: Int32Array.from({ length: column.rows * cols }, (_, i) => column.data[Math.floor(i / cols)]!),
});

/** [B|1, T] one more than the highest position among the real tokens of the same row and segment. */
function sequenceLengths(
  query: Grid,
  mask: Grid | undefined,
  segments: Grid | undefined,
  fixed: number | undefined,
): Grid {
  const rows = Math.max(query.rows, mask?.rows ?? 1, segments?.rows ?? 1);
  const { cols } = query;
  const data = new Int32Array(rows * cols);
  if (fixed !== undefined) return { rows: 1, cols, data: new Int32Array(cols).fill(fixed) };
  for (let b = 0; b < rows; b++) {
    const lengths = new Map<number, number>();
    const segment = (t: number) => (segments ? at(segments, b, t) : 0);
    for (let t = 0; t < cols; t++)
      if (!mask || at(mask, b, t)) lengths.set(segment(t), Math.max(lengths.get(segment(t)) ?? 0, at(query, b, t) + 1));
    for (let t = 0; t < cols; t++) data[b * cols + t] = lengths.get(segment(t)) ?? 0;
  }
  return { rows, cols, data };
}

function checkRange(query: Grid, maxPosition: number, cache: Cache | undefined): void {
  const [first, last] = extent(query);
  if (first < 0) throw new PosencError(`position ${first} is negative: positions count from 0`);
  if (last >= maxPosition)
    throw new PosencError(
      `position ${last} is beyond this encoding: it is defined for 0 to ${maxPosition - 1}. Use a shorter sequence, or a config that reaches further`,
    );
  if (!cache) return;
  const rows = Math.max(query.rows, cache.seqLen.rows);
  for (let b = 0; b < rows; b++) {
    const length = at(cache.seqLen, b, 0);
    const reached = at(query, b, query.cols - 1);
    if (reached >= length)
      throw new PosencError(
        `position ${reached} outgrows this decoding session, opened for ${length} tokens: open a longer one and read the prefix again`,
      );
  }
}
