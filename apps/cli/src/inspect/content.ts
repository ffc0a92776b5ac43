/**
 * What the hooks that may read content do, seen on random content: inputs, queries, keys and values are standard normal numbers of
 * a fixed seed. What is the same for content of zeros owes nothing to it: positions alone decide.
 */
import {
  below,
  createMask,
  type Dims,
  type LayerHooks,
  normal,
  repeatHeads,
  type Site,
  sizeOf,
  stream,
} from '@posenc/core';
import type { Tensor, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** Random content is drawn with this seed. */
export const contentSeed = 0;

/** A number for every pair of query and key. */
export interface Pairs {
  readonly positions: number;
  /** Head 0, row-major [n, n]: row = query, column = key, those that a causal mask hides included. */
  readonly data: Float32Array;
  /** Whether content changes it; otherwise positions alone decide. */
  readonly readsContent: boolean;
  /** Mean and standard deviation over the visible pairs of each offset key − query, row-major [H, offsets]. */
  readonly byOffset: {
    readonly offsets: Int32Array;
    readonly heads: number;
    readonly mean: Float32Array;
    readonly deviation: Float32Array;
  };
}

export interface OnContent {
  /** What `scores` makes of the scores, less the plain product. */
  readonly scores?: Pairs;
  /** What `bias` adds to the scores. */
  readonly bias?: Pairs;
  /** Numbers that `carry` keeps for each token, row-major [H, T, F]. */
  readonly carried?: {
    readonly heads: number;
    readonly positions: number;
    readonly width: number;
    readonly data: Float32Array;
  };
  /** Length of the vector that `mix` adds to the value of a key that has all the attention. */
  readonly mix?: Pairs;
}

/** Numbers in the largest tensor of a measurement, of which there are many. */
const mostNumbers = 2 ** 20;

const within = (most: number, ...limits: readonly number[]): number =>
  Math.max(2, Math.floor(Math.min(most, ...limits)));

/** How many positions `scores` and `bias` are asked for: every pair of them. */
export const pairPositions = ({ numHeads, headDim }: Dims): number =>
  within(256, Math.sqrt(mostNumbers / numHeads), mostNumbers / (2 * numHeads * headDim));

/** How many positions `mix` is asked for: each pair in turn has all the attention. */
export const mixPositions = ({ numHeads, headDim }: Dims): number =>
  within(32, Math.cbrt(mostNumbers / numHeads), Math.sqrt(mostNumbers / (numHeads * headDim)));

/** Offsets key − query that occur among N positions: none ahead when the stack is causal. */
export const offsetsOf = (positions: number, causal: boolean): Int32Array =>
  Int32Array.from({ length: causal ? positions : 2 * positions - 1 }, (_, i) => i - positions + 1);

/** Asks a layer bound to positions 0 … n − 1 for what it does to every pair, and the same one bound to 0 … m − 1 for its `mix`. */
export function measureContent(
  pairs: { readonly n: number; readonly layer: LayerHooks },
  few: { readonly n: number; readonly layer: LayerHooks },
  dims: Dims,
): OnContent {
  const [random, zeros] = [contentOf(dims, pairs.n, randomly), contentOf(dims, pairs.n, empty)];
  const { bias, scores, carry } = pairs.layer;
  const changed = (site: Site) => tf.sub<Tensor4D>(scores!(site), productOf(site));
  const ask = (content: Content, hook: (site: Site) => Tensor4D) =>
    floats(tf.broadcastTo(hook(siteOf(content, pairs.layer, dims)), [1, dims.numHeads, pairs.n, pairs.n]));
  const seen = (hook: (site: Site) => Tensor4D) => pairsOf(ask(random, hook), ask(zeros, hook), pairs.n, dims);
  return {
    ...(scores && { scores: seen(changed) }),
    ...(bias && { bias: seen(bias) }),
    ...(carry && { carried: carriedOf(carry(random.x)) }),
    ...(few.layer.mix && { mix: mixOf(few.layer.mix, dims, few.n) }),
  };
}

type Draw = (shape: number[], name: string) => Tensor;

/** Standard normal numbers, of a stream of their own for every name. */
function randomly(shape: number[], name: string): Tensor {
  const random = stream(contentSeed, `inspect/${name}`);
  return tf.tensor(
    Float32Array.from({ length: sizeOf(shape) }, () => normal(random)),
    shape,
  );
}

const empty: Draw = (shape) => tf.zeros(shape);

/** Inputs, queries and keys of one sequence, and projections as wide as they need. */
interface Content {
  readonly x: Tensor3D;
  readonly q: Tensor4D;
  readonly k: Tensor4D;
  readonly project: Site['project'];
}

function contentOf({ modelDim, numHeads, numKvHeads, headDim }: Dims, n: number, draw: Draw): Content {
  return {
    x: draw([1, n, modelDim], 'x') as Tensor3D,
    q: draw([1, numHeads, n, headDim], 'query') as Tensor4D,
    k: repeatHeads(draw([1, numKvHeads, n, headDim], 'key') as Tensor4D, numHeads),
    // Each channel is one of the table's, with a random sign: as random as a dense matrix, the size kept, and in no time.
    project: (side, table) => {
      const heads = side === 'query' ? numHeads : numKvHeads;
      const random = stream(contentSeed, `inspect/project/${side}`);
      const channels = Int32Array.from({ length: heads * headDim }, () => below(random, modelDim));
      const signs = draw([heads * headDim], `signs/${side}`).sign();
      const chosen = tf.mul(tf.gather(table, tf.tensor1d(channels, 'int32'), 1), signs);
      const byHead = chosen.reshape<Tensor4D>([1, -1, heads, headDim]).transpose<Tensor4D>([0, 2, 1, 3]);
      return repeatHeads(byHead, numHeads).squeeze<Tensor3D>([0]);
    },
  };
}

function siteOf({ x, q, k, project }: Content, { carry }: LayerHooks, { causal, headDim }: Dims): Site {
  const n = x.shape[1];
  const site: Site = {
    x,
    q,
    k,
    project,
    scoreScale: 1 / Math.sqrt(headDim),
    ...(carry && { carried: carry(x) }),
    scores: () => {
      const { additive } = createMask({ causal, numQueries: n, numKeys: n });
      return additive ? tf.add<Tensor4D>(productOf(site), additive) : productOf(site);
    },
  };
  return site;
}

const productOf = ({ q, k, scoreScale }: Site): Tensor4D => tf.mul(tf.matMul(q, k, false, true), scoreScale);

function pairsOf(seen: Float32Array, without: Float32Array, n: number, { numHeads, causal }: Dims): Pairs {
  const offsets = offsetsOf(n, causal);
  const size = numHeads * offsets.length;
  const [sum, squares] = [new Float64Array(size), new Float64Array(size)];
  const count = (offset: number) => n - Math.abs(offset);
  const each = (act: (value: number, cell: number, offset: number) => void) => {
    for (let h = 0, i = 0; h < numHeads; h++)
      for (let query = 0; query < n; query++)
        for (let key = 0; key < n; key++, i++)
          if (!causal || key <= query) act(seen[i]!, h * offsets.length + key - query + n - 1, key - query);
  };
  each((value, cell, offset) => {
    sum[cell]! += value / count(offset);
  });
  each((value, cell, offset) => {
    squares[cell]! += (value - sum[cell]!) ** 2 / count(offset);
  });
  return {
    positions: n,
    data: seen.slice(0, n * n),
    readsContent: seen.some((value, i) => !(Math.abs(value - without[i]!) <= 1e-5 * Math.max(1, Math.abs(value)))),
    byOffset: {
      offsets,
      heads: numHeads,
      mean: Float32Array.from(sum),
      deviation: Float32Array.from(squares, Math.sqrt),
    },
  };
}

function carriedOf(numbers: Tensor4D): NonNullable<OnContent['carried']> {
  const [, heads, positions, width] = numbers.shape;
  return { heads, positions, width, data: floats(numbers) };
}

/** Key j of row j of a batch has all the attention of every query: what comes out, less its value. */
function mixOf(mix: NonNullable<LayerHooks['mix']>, dims: Dims, n: number): Pairs {
  const { numHeads, headDim } = dims;
  const added = (draw: Draw): Float32Array => {
    const chosen = tf.eye(n).reshape([n, 1, 1, n]);
    const weights = tf.mul<Tensor4D>(chosen, tf.ones([1, numHeads, n, 1]));
    const values = tf.mul<Tensor4D>(draw([1, numHeads, n, headDim], 'value'), tf.ones([n, 1, 1, 1]));
    const plain = tf.matMul(weights, values);
    const lengths = tf.norm(tf.sub(mix(weights, values), plain), 'euclidean', 3); // [key, H, query]
    return floats(lengths.transpose([1, 2, 0]));
  };
  return pairsOf(added(randomly), added(empty), n, dims);
}

const floats = (tensor: Tensor): Float32Array => Float32Array.from(tensor.dataSync());
