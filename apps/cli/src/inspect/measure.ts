/**
 * What an encoding does, found by calling its hooks: nothing here knows any encoding, so a stranger's is measured as well.
 * All positions 0 … N − 1 in one call, as in a model.
 */
import { createHash } from 'node:crypto';
import {
  createParams,
  type Dims,
  disposeParams,
  type Encoding,
  explicit,
  type Grid,
  type Hole,
  type Hooks,
  holes,
  type LayerHooks,
  normal,
  range,
  type Site,
  stream,
} from '@posenc/core';
import type { Tensor, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { spread } from '../ui/numbers.ts';
import { measureRotation, type Rotation, rotationPositions } from './rotation.ts';

export interface Measured {
  /** N: positions 0 … N − 1. */
  readonly positions: number;
  readonly embed?: Vectors;
  /** Layers that do the same, together. */
  readonly groups: readonly Group[];
}

/** What `embed` or `infuse` adds to zeros or, where that is nothing, makes of ones: row-major [N, width]. */
export interface Vectors {
  readonly width: number;
  readonly table: Float32Array;
}

export interface Group {
  readonly layers: readonly number[];
  readonly holes: readonly Hole[];
  readonly infuse?: Vectors;
  readonly rotation?: Rotation;
  /** Logits added by distance, row-major [H, offsets]. */
  readonly relativeBias?: RelativeBias;
  /** Factor on the scores by query position, row-major [H or 1, N or 1]. */
  readonly scale?: { readonly heads: number; readonly positions: number; readonly data: Float32Array };
  /** Head 0 of `bias` for empty content, row-major [n, n]: what it owes to positions alone. */
  readonly bias?: { readonly positions: number; readonly data: Float32Array };
}

export interface RelativeBias {
  /** key − query, ascending. */
  readonly offsets: Int32Array;
  readonly heads: number;
  readonly data: Float32Array;
}

/** An encoding with parameters is measured as it is drawn with this seed. */
export const seed = 0;

/** The most positions at which a bias over all pairs of positions is asked for. */
const mostPairs = 256;

/** Calls every hook of every layer at positions 0 … N − 1, with parameters as drawn with `seed`: at initialisation. */
export function measure(encoding: Encoding, dims: Dims, positions: number): Measured {
  const params = createParams(encoding.params, seed);
  let measured: Measured | undefined; // plain numbers: not for tidy to carry out
  tf.tidy(() => {
    // The sequence is N long however few of its positions are looked at.
    const bind = (at: Grid): Bound => {
      const seqLen = { ...at, data: new Int32Array(at.cols).fill(positions) };
      return { n: at.cols, hooks: encoding.hooks(params)({ query: at, key: at, seqLen }) };
    };
    const first = (n: number) => bind(range(Math.min(n, positions)));
    const { hooks } = first(positions);
    measured = {
      positions,
      ...(hooks.embed && { embed: vectorsOf(hooks.embed, positions, dims.embeddingDim) }),
      groups: groupLayers(
        {
          all: hooks,
          bias: first(mostPairs),
          rotation: first(rotationPositions(dims.headDim)),
          rotationProbe: bind(explicit([spread(positions, 16)])),
        },
        dims,
        positions,
      ),
    };
  });
  disposeParams(params);
  return measured!;
}

/** Offsets key − query that occur among N positions: none ahead when the stack is causal. */
export const offsetsOf = (positions: number, causal: boolean): Int32Array =>
  Int32Array.from({ length: causal ? positions : 2 * positions - 1 }, (_, i) => i - positions + 1);

/** Hooks for n positions. */
interface Bound {
  readonly n: number;
  readonly hooks: Hooks;
}

/** The same hooks, bound to as many positions as each measurement can afford. */
interface Bindings {
  readonly all: Hooks;
  readonly bias: Bound;
  readonly rotation: Bound;
  readonly rotationProbe: Bound;
}

function groupLayers(bound: Bindings, dims: Dims, positions: number): Group[] {
  const probe = probeVectors(dims, bound.rotationProbe.n);
  const found = new Map<string, Group & { layers: number[] }>();
  for (let l = 0; l < dims.numLayers; l++) {
    const layer = bound.all.layer?.(l) ?? {};
    const measured: Omit<Group, 'layers'> = {
      holes: holes.filter((hole) => hole !== 'embed' && layer[hole] !== undefined),
      ...(layer.infuse && { infuse: vectorsOf(layer.infuse, positions, dims.modelDim) }),
      ...(layer.relativeBias && { relativeBias: relativeBiasOf(layer, offsetsOf(positions, dims.causal), dims) }),
      ...(layer.scale !== undefined && { scale: scaleOf(layer.scale) }),
      // What is carried is content: without any there is nothing to ask.
      ...(layer.bias && !layer.carry && { bias: biasOf(bound.bias.hooks.layer!(l), dims, bound.bias.n) }),
    };
    const turned = layer.rotate && floats(bound.rotationProbe.hooks.layer!(l).rotate!(probe, 'query'));
    const key = signature(measured, turned);
    const group = found.get(key);
    if (group) group.layers.push(l);
    else {
      const rotate = layer.rotate && bound.rotation.hooks.layer!(l).rotate!;
      const rotation = rotate && measureRotation(rotate, dims, bound.rotation.n);
      found.set(key, { layers: [l], ...measured, ...(rotation && { rotation }) });
    }
  }
  return [...found.values()];
}

/** One random vector for every head and position. */
function probeVectors({ numHeads, headDim }: Dims, n: number): Tensor4D {
  const random = stream(seed, 'inspect/rotate');
  const values = Float32Array.from({ length: numHeads * n * headDim }, () => normal(random));
  return tf.tensor4d(values, [1, numHeads, n, headDim]);
}

/** Equal for layers that do the same, as far as can be seen: a rotation is judged by what it makes of the probe. */
function signature(
  { holes, infuse, relativeBias, scale, bias }: Omit<Group, 'layers'>,
  turned: Float32Array | undefined,
): string {
  const hash = createHash('sha256').update(holes.join());
  for (const data of [infuse?.table, relativeBias?.data, scale?.data, bias?.data, turned]) if (data) hash.update(data);
  return hash.digest('hex');
}

function vectorsOf(act: (x: Tensor3D) => Tensor3D, positions: number, width: number): Vectors {
  const added = floats(act(tf.zeros([1, positions, width])));
  return { width, table: added.some((value) => value !== 0) ? added : floats(act(tf.ones([1, positions, width]))) };
}

function relativeBiasOf(layer: LayerHooks, offsets: Int32Array, dims: Dims): RelativeBias {
  return { offsets, heads: dims.numHeads, data: floats(layer.relativeBias!(offsets)) };
}

function scaleOf(scale: number | Tensor4D): NonNullable<Group['scale']> {
  if (typeof scale === 'number') return { heads: 1, positions: 1, data: Float32Array.of(scale) };
  const [, heads, positions] = scale.shape;
  return { heads, positions, data: floats(tf.slice(scale, [0, 0, 0, 0], [1, heads, positions, 1])) };
}

/** A layer without content: zero inputs, queries and keys, and a projection that gives zeros. */
function biasOf(layer: LayerHooks, { modelDim, numHeads, headDim }: Dims, n: number): NonNullable<Group['bias']> {
  const content: Tensor4D = tf.zeros([1, numHeads, n, headDim]);
  const site: Site = {
    x: tf.zeros([1, n, modelDim]) as Tensor3D,
    q: content,
    k: content,
    scoreScale: 1 / Math.sqrt(headDim),
    scores: () => tf.zeros([1, numHeads, n, n]) as Tensor4D,
    project: (_, table: Tensor2D) => tf.zeros([numHeads, table.shape[0], headDim]) as Tensor3D,
  };
  const whole = tf.broadcastTo(layer.bias!(site), [1, numHeads, n, n]);
  return { positions: n, data: floats(tf.slice(whole, [0, 0, 0, 0], [1, 1, n, n])) };
}

const floats = (tensor: Tensor): Float32Array => Float32Array.from(tensor.dataSync());
