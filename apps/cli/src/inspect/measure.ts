/**
 * What an encoding does, found by calling its hooks: nothing here knows any encoding, so a stranger's is measured as well.
 * All positions 0 … N − 1 in one call, as in a model.
 */
import { createHash } from 'node:crypto';
import {
  createParams,
  type Dims,
  disposeParams,
  drawParam,
  type Encoding,
  explicit,
  type Grid,
  type Hole,
  type Hooks,
  holes,
  type LayerHooks,
  normal,
  type ParamSpecs,
  type Params,
  range,
  stream,
} from '@posenc/core';
import type { Tensor, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { spread } from '../ui/numbers.ts';
import { measureContent, mixPositions, type OnContent, offsetsOf, pairPositions } from './content.ts';
import { measureRotation, type Rotation, rotationPositions } from './rotation.ts';

export interface Measured {
  /** N: positions 0 … N − 1. */
  readonly positions: number;
  /**
   * Parameters as they are at initialisation; or, where they start at zero and some hook so does nothing, those drawn at random
   * (`awakened`), to show what it can do.
   */
  readonly parameters: 'none' | 'initial' | 'awakened';
  readonly embed?: Vectors;
  /** Layers that do the same, together. */
  readonly groups: readonly Group[];
}

/** What `embed` or `infuse` adds to zeros or, where that is nothing, makes of ones: row-major [N, width]. */
export interface Vectors {
  readonly width: number;
  readonly table: Float32Array;
}

export interface Group extends OnContent {
  readonly layers: readonly number[];
  /** Layers of other groups that would do the same with parameters of equal values: told apart by what was drawn alone. */
  readonly alike: readonly number[];
  readonly holes: readonly Hole[];
  readonly infuse?: Vectors;
  readonly rotation?: Rotation;
  /** Logits added by distance, row-major [H, offsets]. */
  readonly relativeBias?: RelativeBias;
  /** Factor on the scores by query position, row-major [H or 1, N or 1]. */
  readonly scale?: { readonly heads: number; readonly positions: number; readonly data: Float32Array };
}

export interface RelativeBias {
  /** key − query, ascending. */
  readonly offsets: Int32Array;
  readonly heads: number;
  readonly data: Float32Array;
}

/** An encoding with parameters is measured as it is drawn with this seed. */
export const seed = 0;

/** Standard deviation of parameters that start at zero, once they are drawn: that of most weights. */
export const awakenedStd = 0.02;

/** Calls every hook of every layer at positions 0 … N − 1, with parameters as drawn with `seed`. */
export function measure(encoding: Encoding, dims: Dims, positions: number): Measured {
  const { params: specs } = encoding;
  const parameters = Object.keys(specs).length > 0 ? 'initial' : 'none';
  const measured = { parameters, ...withParams(encoding, specs, dims, positions) } as const;
  const awake = awakened(specs);
  if (awake === specs || !isSilent(measured)) return measured;
  return { parameters: 'awakened', ...withParams(encoding, awake, dims, positions) };
}

function withParams(
  encoding: Encoding,
  specs: ParamSpecs,
  dims: Dims,
  positions: number,
): Omit<Measured, 'parameters'> {
  const params = createParams(specs, seed);
  let measured: Omit<Measured, 'parameters'> | undefined; // plain numbers: not for tidy to carry out
  tf.tidy(() => {
    const bindings = bind(encoding, params, dims, positions);
    const { hooks } = bindings.all;
    const apart = groupLayers(bindings, dims);
    // Which of them differ only in the numbers their parameters were drawn with: ask again, with those of the first layer for all.
    const groups =
      apart.length > 1 ? withLikes(apart, bind(encoding, tiedParams(specs), dims, positions), dims) : apart;
    measured = {
      positions,
      ...(hooks.embed && { embed: vectorsOf(hooks.embed, positions, dims.embeddingDim) }),
      groups: groups.map(({ signature: _, ...group }) => group),
    };
  });
  disposeParams(params);
  return measured!;
}

/** Hooks for n positions. */
interface Bound {
  readonly n: number;
  readonly hooks: Hooks;
}

/** The same hooks, bound to as many positions as each measurement can afford. */
interface Bindings {
  readonly all: Bound;
  readonly pairs: Bound;
  readonly mix: Bound;
  readonly rotation: Bound;
  /** A few positions near and far, for telling layers apart. */
  readonly probe: Bound;
}

function bind(encoding: Encoding, params: Params, dims: Dims, positions: number): Bindings {
  // The sequence is N long however few of its positions are looked at.
  const at = (grid: Grid): Bound => {
    const seqLen = { ...grid, data: new Int32Array(grid.cols).fill(positions) };
    return { n: grid.cols, hooks: encoding.hooks(params)({ query: grid, key: grid, seqLen }) };
  };
  const first = (n: number) => at(range(Math.min(n, positions)));
  return {
    all: first(positions),
    pairs: first(pairPositions(dims)),
    mix: first(mixPositions(dims)),
    rotation: first(rotationPositions(dims.headDim)),
    probe: at(explicit([spread(positions, 16)])),
  };
}

type Signed = Group & { readonly layers: number[]; readonly signature: string };

function groupLayers(bound: Bindings, dims: Dims): Signed[] {
  const found = new Map<string, Signed>();
  for (let l = 0; l < dims.numLayers; l++) {
    const signature = signatureOf(bound, l, dims);
    const group = found.get(signature);
    if (group) group.layers.push(l);
    else found.set(signature, { layers: [l], alike: [], ...measureLayer(bound, l, dims), signature });
  }
  return [...found.values()];
}

/** Says of every group which layers of others are like it, by what their first layers do when all have the same parameters. */
function withLikes(groups: readonly Signed[], tied: Bindings, dims: Dims): Signed[] {
  const kinds = groups.map(({ layers }) => signatureOf(tied, layers[0]!, dims));
  return groups.map((group, i) => ({
    ...group,
    alike: groups.flatMap(({ layers }, j) => (j !== i && kinds[j] === kinds[i] ? layers : [])),
  }));
}

const layerOf = ({ n, hooks }: Bound, l: number) => ({ n, layer: hooks.layer?.(l) ?? {} });

const holesOf = (layer: LayerHooks): Hole[] => holes.filter((hole) => hole !== 'embed' && layer[hole] !== undefined);

function measureLayer(bound: Bindings, l: number, dims: Dims): Omit<Group, 'layers' | 'alike'> {
  const { n, layer } = layerOf(bound.all, l);
  const { rotate } = layerOf(bound.rotation, l).layer;
  return {
    holes: holesOf(layer),
    ...(layer.infuse && { infuse: vectorsOf(layer.infuse, n, dims.modelDim) }),
    ...(layer.relativeBias && { relativeBias: relativeBiasOf(layer, offsetsOf(n, dims.causal), dims) }),
    ...(layer.scale !== undefined && { scale: scaleOf(layer.scale) }),
    ...measureContent(layerOf(bound.pairs, l), layerOf(bound.mix, l), dims),
    ...(rotate && { rotation: measureRotation(rotate, dims, bound.rotation.n) }),
  };
}

/** Equal for layers that do the same, as far as a probe of few positions can tell. */
function signatureOf(bound: Bindings, l: number, dims: Dims): string {
  const { layer } = layerOf(bound.all, l);
  const { probe } = bound;
  const probed = layerOf(probe, l);
  const { infuse, rotate, scale } = probed.layer;
  const { scores, bias, carried, mix } = measureContent(probed, probed, dims);
  const hash = createHash('sha256').update(holesOf(layer).join());
  for (const data of [
    infuse && vectorsOf(infuse, probe.n, dims.modelDim).table,
    rotate && floats(rotate(probeVectors(dims, probe.n), 'query')),
    layer.relativeBias && floats(layer.relativeBias(offsetsOf(bound.all.n, dims.causal))),
    scale !== undefined && scaleOf(scale).data,
    scores?.byOffset.mean,
    bias?.byOffset.mean,
    carried?.data,
    mix?.byOffset.mean,
  ])
    if (data) hash.update(data);
  return hash.digest('hex');
}

/** The same parameters, with the values of its first row for all rows: where that axis counts layers, layers are told apart no more. */
function tiedParams(specs: ParamSpecs): Params {
  return Object.fromEntries(
    Object.entries(specs).map(([path, spec]) => {
      const [rows = 1] = spec.shape;
      const values = drawParam(spec, seed, path);
      const row = values.length / rows;
      return [
        path,
        tf.tensor(
          values.map((_, i) => values[i % row]!),
          [...spec.shape],
        ),
      ];
    }),
  );
}

/** Whether a hook is there, and does nothing. */
function isSilent({ embed, groups }: Pick<Measured, 'embed' | 'groups'>): boolean {
  const still = (data: ArrayLike<number> | undefined, nothing = 0) =>
    data !== undefined && Array.prototype.every.call(data, (value) => value === nothing);
  return (
    still(embed?.table, 1) ||
    groups.some(({ infuse, relativeBias, bias, scores, mix }) =>
      [
        still(infuse?.table, 1),
        still(relativeBias?.data),
        still(bias?.data),
        still(scores?.data),
        still(mix?.data),
      ].some(Boolean),
    )
  );
}

/** Parameters that start at zero, drawn from N(0, 0.02²) instead; the same object when none does. */
function awakened(specs: ParamSpecs): ParamSpecs {
  const zero = ({ init }: ParamSpecs[string]) =>
    (init.kind === 'constant' && init.value === 0) || (init.kind === 'normal' && init.std === 0 && !init.mean);
  if (!Object.values(specs).some(zero)) return specs;
  const drawn = { kind: 'normal', std: awakenedStd } as const;
  return Object.fromEntries(Object.entries(specs).map(([path, s]) => [path, zero(s) ? { ...s, init: drawn } : s]));
}

/** One random vector for every head and position. */
function probeVectors({ numHeads, headDim }: Dims, n: number): Tensor4D {
  const random = stream(seed, 'inspect/rotate');
  const values = Float32Array.from({ length: numHeads * n * headDim }, () => normal(random));
  return tf.tensor4d(values, [1, numHeads, n, headDim]);
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

const floats = (tensor: Tensor): Float32Array => Float32Array.from(tensor.dataSync());
