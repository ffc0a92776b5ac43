/**
 * A `rotate` hook taken apart by feeding it the basis vectors: which channels turn together, by which angle, and whether
 * lengths are kept. R(p) is the matrix whose column d is what the hook makes of basis vector e_d at position p.
 */
import { type Dims, type LayerHooks, normal, stream } from '@posenc/core';
import type { Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

export interface Rotation {
  /** Measured at positions 0 … n − 1. */
  readonly positions: number;
  readonly headDim: number;
  /** Width of what comes out, Dr. */
  readonly width: number;
  /** R(1) of head 0, query side, row-major [Dr, Dh]: row = output channel, column = input channel. */
  readonly matrix: Float64Array;
  /** Channel pairs that turn in their plane, by first channel; undefined when the hook is no set of plane rotations. */
  readonly pairs?: readonly Pair[];
  /** How many channels do not turn. */
  readonly still: number;
  /** Mean over all directions of ⟨R_q(p) u, R_k(0) u⟩ / ⟨u, u⟩: the score of a vector with itself at distance p. [n] */
  readonly similarity: Float64Array;
  /** The same of query position i with key position j, row-major [m, m] for the first m positions. */
  readonly products: { readonly positions: number; readonly data: Float64Array };
  /** Largest | ‖R(p) e_d‖ − 1 |: 0 for a rotation. */
  readonly lengthError: number;
  readonly sameInAllHeads: boolean;
}

export interface Pair {
  readonly channels: readonly [number, number];
  /** Radians at positions 0 … n − 1, unwrapped; counter-clockwise from the first channel to the second. */
  readonly angles: Float64Array;
  /** Radians per position, over the whole range. */
  readonly frequency: number;
}

type Rotate = NonNullable<LayerHooks['rotate']>;

/** Numbers per call of the hook, about. */
const most = 4e6;

/** Positions on each side of the products. */
const mostProducts = 64;

/** How many positions of a head this wide are measured, at most. */
export const rotationPositions = (headDim: number): number =>
  Math.max(2, Math.min(256, Math.floor(8e6 / headDim ** 2)));

/** Measures a `rotate` that is bound to positions 0 … n − 1. */
export function measureRotation(rotate: Rotate, dims: Dims, n: number): Rotation {
  const { headDim } = dims;
  const sameInAllHeads = headsAgree(rotate, dims, n);
  const query = imagesOfBasis(rotate, 'query', dims, n, sameInAllHeads);
  const key = imagesOfBasis(rotate, 'key', dims, n, sameInAllHeads);
  const width = query[0]!.length / n;

  const at = (p: number, row: number, column: number): number => query[column]![p * width + row]!;
  const matrix = Float64Array.from({ length: width * headDim }, (_, i) =>
    at(Math.min(1, n - 1), Math.floor(i / headDim), i % headDim),
  );
  const m = Math.min(n, mostProducts);
  const products = new Float64Array(m * m);
  const similarity = new Float64Array(n);
  let lengthError = 0;
  for (let d = 0; d < headDim; d++)
    for (let p = 0; p < n; p++) {
      let [product, square] = [0, 0];
      for (let row = 0; row < width; row++) {
        product += at(p, row, d) * key[d]![row]!;
        square += at(p, row, d) ** 2;
      }
      similarity[p]! += product / headDim;
      lengthError = Math.max(lengthError, Math.abs(Math.sqrt(square) - 1));
    }
  for (let d = 0; d < headDim; d++)
    for (let i = 0; i < m; i++)
      for (let row = 0; row < width; row++) {
        const value = at(i, row, d) / headDim;
        if (value !== 0) for (let j = 0; j < m; j++) products[i * m + j]! += value * key[d]![j * width + row]!;
      }
  const pairs = width === headDim ? planePairs(at, headDim, n) : undefined;
  const still = pairs ? headDim - 2 * pairs.length : 0;
  return {
    positions: n,
    headDim,
    width,
    matrix,
    pairs,
    still,
    similarity,
    products: { positions: m, data: products },
    lengthError,
    sameInAllHeads,
  };
}

/** Whether every head makes the same of one random vector. */
function headsAgree(rotate: Rotate, { numHeads, headDim }: Dims, n: number): boolean {
  const random = stream(0, 'inspect/heads');
  const vector = tf.tensor4d(
    Float32Array.from({ length: headDim }, () => normal(random)),
    [1, 1, 1, headDim],
  );
  const turned = rotate(tf.mul<Tensor4D>(vector, tf.ones([1, numHeads, n, 1])), 'query');
  const first = tf.slice(turned, [0, 0, 0, 0], [1, 1, n, -1]);
  return tf.equal(turned, first).all().dataSync()[0] === 1;
}

/** What head 0 makes of each basis vector, row-major [n, Dr]. Heads that agree take a basis vector each, which is faster. */
function imagesOfBasis(
  rotate: Rotate,
  side: 'query' | 'key',
  { numHeads, headDim }: Dims,
  n: number,
  agree: boolean,
): Float32Array[] {
  const perRow = agree ? numHeads : 1;
  const rows = Math.max(1, Math.floor(most / (numHeads * n * headDim)));
  const images: Float32Array[] = [];
  for (let first = 0; first < headDim; first += rows * perRow) {
    const count = Math.min(rows, Math.ceil((headDim - first) / perRow));
    let turned = new Float32Array(); // assigned, not returned: tidy would look for tensors in it, number by number
    tf.tidy(() => {
      // Beyond the last basis vector: zeros.
      const unit = tf.oneHot(tf.range(first, first + count * perRow, 1, 'int32'), headDim).toFloat();
      const vectors = tf.mul<Tensor4D>(unit.reshape([count, perRow, 1, headDim]), tf.ones([1, numHeads, n, 1]));
      turned = Float32Array.from(rotate(vectors, side).dataSync());
    });
    const size = turned.length / (count * numHeads);
    for (let i = 0; i < count * perRow && images.length < headDim; i++) {
      const head = Math.floor(i / perRow) * numHeads + (i % perRow);
      images.push(turned.slice(head * size, (head + 1) * size));
    }
  }
  return images;
}

/** Channels that mix with exactly one other, as a turn in their plane: R[b,a] = −R[a,b] and R[a,a] = R[b,b]. */
function planePairs(
  at: (p: number, row: number, column: number) => number,
  headDim: number,
  n: number,
): Pair[] | undefined {
  const mixes = (row: number, column: number) => {
    for (let p = 0; p < n; p++) if (Math.abs(at(p, row, column)) > 1e-12) return true;
    return false;
  };
  const channels = Array.from({ length: headDim }, (_, d) => d);
  const partners = channels.map((column) => channels.filter((row) => row !== column && mixes(row, column)));
  const pairs: Pair[] = [];
  for (const [a, [b, ...more]] of partners.entries()) {
    if (b === undefined) continue;
    if (more.length || partners[b]!.length !== 1 || partners[b]![0] !== a) return undefined;
    if (b < a) continue;
    for (let p = 0; p < n; p++) {
      const skew = Math.abs(at(p, b, a) + at(p, a, b)) + Math.abs(at(p, a, a) - at(p, b, b));
      if (skew > 1e-4 * Math.hypot(at(p, a, a), at(p, b, a))) return undefined;
    }
    const angles = unwrap(Float64Array.from({ length: n }, (_, p) => Math.atan2(at(p, b, a), at(p, a, a))));
    pairs.push({ channels: [a, b], angles, frequency: (angles[n - 1]! - angles[0]!) / (n - 1) });
  }
  return pairs;
}

/** Adds whole turns so that neighbours differ by at most half a turn. */
function unwrap(angles: Float64Array): Float64Array {
  for (let p = 1; p < angles.length; p++)
    angles[p]! -= 2 * Math.PI * Math.round((angles[p]! - angles[p - 1]!) / (2 * Math.PI));
  return angles;
}
