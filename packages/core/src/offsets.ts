/**
 * Between numbers or vectors per offset key − query and the [Tq, Tk] matrix of an attention layer. A plan knows where the tokens
 * stand; its columns are the offsets that occur, and whatever is given per column comes back per pair of query and key.
 */

import type { Tensor1D, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { Grid } from './encoding.ts';
import { gatherRows, scatterRows } from './kernels/rows.ts';
import { at, extent, mapGrid } from './positions.ts';

/** Which offsets key − query occur in a call, and how a number for each of them gets to its pairs. */
export interface OffsetPlan {
  /** What each of the n columns stands for: the distinct offsets that occur, ascending; or their folds, in any order. */
  readonly offsets: Int32Array;
  /** Consecutive positions: column c stands for the offset key − query of which row i has key c + i − (Tq − 1), if any. */
  readonly consecutive: boolean;
  /** The same offsets as a band: for kernels that need no matrix of pairs. Absent where it would be much wider than they are. */
  readonly band?: OffsetBand;
  /** [H, n] (one number per column, the same for every query) → [B|1, H, Tq, Tk]. */
  expand(row: Tensor2D): Tensor4D;
  /** [B, H, Tq, n] (each query has its own numbers) → [B, H, Tq, Tk]: the relative shift of Transformer-XL. */
  shift(columns: Tensor4D): Tensor4D;
  /** Relative keys: u [B, H, Tq, W], vectors [H|1, n, W] → ⟨u_i, vectors of the column of (i, j)⟩, [B, H, Tq, Tk]. */
  dot(u: Tensor4D, vectors: Tensor3D): Tensor4D;
  /** Relative values: weights [B, H, Tq, Tk], vectors [H|1, n, W] → Σ_j weights_ij · vectors of the column of (i, j), [B, H, Tq, W]. */
  mix(weights: Tensor4D, vectors: Tensor3D): Tensor4D;
}

/** Every offset from the lowest to the highest, whether it occurs or not. */
export interface OffsetBand {
  /** What each column stands for (or its fold). */
  readonly offsets: Int32Array;
  /** [B|1, Tq] and [B|1, Tk]: the column of the pair (i, j) is keyPlaces[j] − queryPlaces[i]. */
  readonly queryPlaces: Grid;
  readonly keyPlaces: Grid;
}

/**
 * Plans the offsets between positions [B|1, Tq] and [B|1, Tk].
 *
 * @param fold offsets with the same fold are the same to the encoding (clipped distances, buckets): where positions are
 *   scattered they share a column, so that a plan is never wider than the encoding's table.
 */
export function planOffsets(query: Grid, key: Grid, fold = (offset: number): number => offset): OffsetPlan {
  const consecutive = isRange(query) && isRange(key);
  const layout = consecutive ? diagonals(query, key, fold) : lookup(query, key, fold);
  const { shift, collect } = layout;
  const band = once(() => bandOf(query, key, fold));
  return {
    get band() {
      return band();
    },
    get offsets() {
      return layout.offsets;
    },
    consecutive,
    expand: layout.expand,
    shift,
    // One key (a token's keys against one query, seen from the keys): its own vector each, instead of all and a choice of one.
    dot: (u, vectors) =>
      key.cols === 1 ? dotEach(u, vectors, layout.firstColumns()) : shift(timesTable(u, vectors, true)),
    mix: (weights, vectors) => timesTable(collect(weights), vectors, false),
  };
}

/** Wider bands cost more than the pairs that they spare. */
const widestBand = 16;

function bandOf(query: Grid, key: Grid, fold: (offset: number) => number): OffsetBand | undefined {
  const [[firstQuery, lastQuery], [firstKey, lastKey]] = [extent(query), extent(key)];
  const lowest = firstKey - lastQuery;
  const width = lastKey - firstQuery - lowest + 1;
  if (width > widestBand * (query.cols + key.cols)) return undefined;
  return {
    offsets: Int32Array.from({ length: width }, (_, i) => fold(lowest + i)),
    queryPlaces: mapGrid(query, (position) => position - lastQuery),
    keyPlaces: mapGrid(key, (position) => position - firstKey),
  };
}

interface Layout extends Pick<OffsetPlan, 'offsets' | 'expand' | 'shift'> {
  /** The transpose of shift: [B, H, Tq, Tk] → [B, H, Tq, n], summed over keys that share a column. */
  collect(pairs: Tensor4D): Tensor4D;
  /** [B|1, Tq] the column of each query's first key. */
  firstColumns(): Grid;
}

const isRange = (grid: Grid): boolean => grid.rows === 1 && grid.data.every((p, t) => p === grid.data[0]! + t);

/**
 * Consecutive positions: pairs are constant along diagonals, so n = Tq + Tk − 1. Element (i, j) is number Tq − 1 + j − i of row i,
 * that is number Tq − 1 + i·(n − 1) + j of all rows one after another: cutting and reshaping is far cheaper, forward and
 * backward, than gathering Tq × Tk entries.
 */
function diagonals(query: Grid, key: Grid, fold: (offset: number) => number): Layout {
  const [numQueries, numKeys] = [query.cols, key.cols];
  const n = numQueries + numKeys - 1;
  const lowest = key.data[0]! - query.data[numQueries - 1]!;
  const shift = (columns: Tensor4D): Tensor4D => {
    const [batch, numHeads] = columns.shape;
    if (numQueries === 1) return columns;
    const rows = columns.reshape<Tensor2D>([batch * numHeads, numQueries * n]);
    const cut = tf.slice(rows, [0, numQueries - 1], [-1, numQueries * (n - 1)]);
    const slanted = cut.reshape<Tensor3D>([batch * numHeads, numQueries, n - 1]);
    return tf.slice(slanted, [0, 0, 0], [-1, -1, numKeys]).reshape([batch, numHeads, numQueries, numKeys]);
  };
  return {
    offsets: Int32Array.from({ length: n }, (_, i) => fold(lowest + i)),
    shift,
    expand: (row) => shift(tf.mul(row.reshape([1, row.shape[0], 1, n]), tf.ones([1, 1, numQueries, 1])) as Tensor4D),
    collect(pairs) {
      const [batch, numHeads] = pairs.shape;
      if (numQueries === 1) return pairs;
      const rows = pairs.reshape<Tensor3D>([batch * numHeads, numQueries, numKeys]);
      const slanted = tf.pad(rows, [
        [0, 0],
        [0, 0],
        [0, n - 1 - numKeys],
      ]);
      const flat = tf.pad(slanted.reshape<Tensor2D>([batch * numHeads, numQueries * (n - 1)]), [
        [0, 0],
        [numQueries - 1, 1],
      ]);
      return flat.reshape([batch, numHeads, numQueries, n]);
    },
    firstColumns: () => ({
      rows: 1,
      cols: numQueries,
      data: Int32Array.from({ length: numQueries }, (_, i) => numQueries - 1 - i),
    }),
  };
}

/** Any positions: look every pair up. Nothing is computed before it is asked for. */
function lookup(query: Grid, key: Grid, fold: (offset: number) => number): Layout {
  const rows = Math.max(query.rows, key.rows);
  const [numQueries, numKeys] = [query.cols, key.cols];

  /** The columns, and the column of each pair, [rows, Tq, Tk]. */
  const table = once(() => {
    const pairs = new Int32Array(rows * numQueries * numKeys);
    for (let b = 0, i = 0; b < rows; b++)
      for (let t = 0; t < numQueries; t++)
        for (let s = 0; s < numKeys; s++) pairs[i++] = fold(at(key, b, s) - at(query, b, t));
    const offsets = Int32Array.from(new Set(pairs)).sort();
    const column = new Map(Array.from(offsets, (offset, i) => [offset, i]));
    return { offsets, columns: pairs.map((offset) => column.get(offset)!) };
  });
  /** Where each pair's number stands among [batch, Tq, n]. */
  const places = (batch: number): Tensor1D => {
    const { offsets, columns } = table();
    const of = (row: number, pair: number) =>
      row * offsets.length + columns[(rows === 1 ? row % numQueries : row) * numKeys + pair]!;
    const size = batch * numQueries * numKeys;
    return tf.tensor1d(
      Int32Array.from({ length: size }, (_, i) => of(Math.floor(i / numKeys), i % numKeys)),
      'int32',
    );
  };
  return {
    get offsets() {
      return table().offsets;
    },
    expand(row) {
      const pairs = gatherRows(row.transpose(), tf.tensor1d(table().columns, 'int32'));
      return headsFirst(pairs, [rows, numQueries, numKeys]);
    },
    shift: (columns) =>
      headsFirst(gatherRows(headsLast(columns), places(columns.shape[0])), [columns.shape[0], numQueries, numKeys]),
    collect(pairs) {
      const [batch] = pairs.shape;
      const n = table().offsets.length;
      return headsFirst(scatterRows(headsLast(pairs), places(batch), batch * numQueries * n), [batch, numQueries, n]);
    },
    firstColumns: () => ({
      rows,
      cols: numQueries,
      data: table().columns.filter((_, pair) => pair % numKeys === 0),
    }),
  };
}

/** [B, H, n, m] → [B·n·m, H] and back: with heads last, one index serves all of them. */
const headsLast = (x: Tensor4D): Tensor2D => x.transpose([0, 2, 3, 1]).reshape([-1, x.shape[1]]);
const headsFirst = (x: Tensor2D, [batch, n, m]: readonly [number, number, number]): Tensor4D =>
  x.reshape<Tensor4D>([batch, n, m, x.shape[1]]).transpose([0, 3, 1, 2]);

/** u [B, H, T, a] times table [H|1, a, b], or its transpose, for every row of the batch: [B, H, T, b]. */
function timesTable(u: Tensor4D, table: Tensor3D, transpose: boolean): Tensor4D {
  const [batch, numHeads, length, width] = u.shape;
  const [own, rows, cols] = table.shape;
  if (own === 1) {
    const product = tf.matMul(u.reshape([-1, width]), table.reshape([rows, cols]), false, transpose);
    return product.reshape([batch, numHeads, length, transpose ? rows : cols]);
  }
  // tfjs multiplies with a broadcast batch, but its gradient does not sum over it; that of a product with ones does.
  const copies = batch === 1 ? table.expandDims(0) : tf.mul(table.expandDims(0), tf.ones([batch, 1, 1, 1]));
  return tf.matMul(u, copies as Tensor4D, false, transpose) as Tensor4D;
}

/** ⟨u_i, vectors of column_i⟩: u [B, H, T, W], vectors [H|1, n, W], columns [B|1, T] → [B, H, T, 1]. */
function dotEach(u: Tensor4D, vectors: Tensor3D, { rows, cols, data }: Grid): Tensor4D {
  const [own, n, width] = vectors.shape;
  const byColumn = vectors.transpose([1, 0, 2]).reshape<Tensor2D>([n, own * width]);
  const chosen = gatherRows(byColumn, tf.tensor1d(data, 'int32')).reshape<Tensor4D>([rows, cols, own, width]);
  return tf.sum(tf.mul(u, chosen.transpose([0, 2, 1, 3])), 3, true) as Tensor4D;
}

function once<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= compute();
    return value;
  };
}
