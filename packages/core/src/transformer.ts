/**
 * The shared transformer, top to bottom. One function from (params, tokens) to logits; a config is data, an encoding
 * is a function, and neither is ever asked for its name. Activations are [B·T, D] except inside attention, so that
 * every projection is one plain matrix product.
 */

import type { Tensor, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { attention } from './attention.ts';
import { type Cache, cacheTensors, type LayerCache } from './cache.ts';
import { dimsOf, type ModelConfig } from './config.ts';
import type { Dims, Encoding, LayerHooks, ParamSpec, ParamSpecs } from './encoding.ts';
import { PosencError } from './errors.ts';
import { withShapesChecked } from './hook-shapes.ts';
import { type Input, place } from './input.ts';
import { activations } from './kernels/activation.ts';
import { dropout } from './kernels/dropout.ts';
import { layerNorm, rmsNorm } from './kernels/norm.ts';
import { createMask, type Mask, type MaskRequest } from './mask.ts';
import { type OffsetPlan, planOffsets } from './offsets.ts';
import { type Params, withoutPrefix, withPrefix } from './params.ts';
import type { Random } from './random.ts';

/** The shared transformer with one encoding: parameters described, not made, and a pure forward pass. */
export interface Transformer {
  readonly config: ModelConfig;
  readonly dims: Dims;
  readonly encoding: Encoding;
  /** Every parameter by path: `layers.0.attention.query.weight` … and the encoding's under `encoding.`. */
  readonly params: ParamSpecs;
  /** Logits [B, T, V]; with a cache, of the new tokens only, and the cache that goes on from them. PosencError when a hook returns another shape than it must. */
  forward(params: Params, input: Input, options?: ForwardOptions): Output;
}

/** What one forward call is given besides tokens. */
export interface ForwardOptions {
  /** Go on from here (`startCache` opens a session). */
  readonly cache?: Cache;
  /** Training: the stream that dropout draws from. Absent: no dropout. */
  readonly random?: Random;
}

/** What one forward call returns; the caller disposes it. */
export interface Output {
  readonly logits: Tensor3D;
  readonly cache?: Cache;
}

/** Puts an encoding into the shared transformer. Throws PosencError when the encoding refuses the stack. */
export function createTransformer(config: ModelConfig, encoding: Encoding): Transformer {
  if (encoding.traits.requiresCausal && !config.causal)
    throw new PosencError('this encoding needs a causal stack, and the model is bidirectional: set "causal": true');
  const dims = dimsOf(config);
  const params = { ...modelParams(config), ...withPrefix(encoding.params, 'encoding') };
  const checked = withShapesChecked(encoding, 'the encoding', dims);
  const forward = (weights: Params, input: Input, options: ForwardOptions = {}) =>
    run(config, checked, weights, input, options);
  return { config, dims, encoding, params, forward };
}

function run(
  c: ModelConfig,
  encoding: Encoding,
  params: Params,
  input: Input,
  { cache, random }: ForwardOptions,
): Output {
  const placed = place(input, c, encoding.traits.maxPosition, cache);
  const { positions } = placed;
  const layers: LayerCache[] = [];
  const kept = tf.tidy(() => {
    const hooks = encoding.hooks(withoutPrefix<Tensor>(params, 'encoding'))(positions);
    const [batch, length] = [input.tokens.rows, input.tokens.cols];
    const scope = { c, params, batch, length, random, offsets: planOffsets(positions.query, positions.key) };
    const maskOf = layerMasks(c, { causal: c.causal, ...placed, numQueries: length, numKeys: positions.key.cols });

    const rows = tf.gather(params['embedding.tokens']!, tf.tensor1d(input.tokens.data, 'int32'));
    const scaled = c.embeddingScale === 1 ? rows : tf.mul(rows, c.embeddingScale);
    let embedded = scaled.reshape([batch, length, c.embeddingDim]) as Tensor3D;
    if (c.numTokenTypes !== undefined) embedded = tf.add(embedded, typeVectors(input, params)) as Tensor3D;
    embedded = hooks.embed?.(embedded) ?? embedded;
    let x = embedded.reshape([batch * length, c.embeddingDim]) as Tensor2D;
    if (c.embeddingNorm) x = norm(x, 'embedding.norm', scope);
    if (c.embeddingDim !== c.modelDim) x = tf.matMul(x, params['embedding.project'] as Tensor2D);
    x = dropout(x, c.dropout, random);

    for (let l = 0; l < c.numLayers; l++) {
      const layer = { ...scope, mask: maskOf(l) };
      const step = block(x, l, hooks.layer?.(l) ?? {}, layer, cache?.layers[l]);
      x = step.x;
      layers.push(step.cache);
    }
    if (c.normPlacement !== 'post') x = norm(x, 'norm', scope);
    const logits = head(x, scope).reshape([batch, length, c.vocabSize]);
    return cache ? [logits, ...cacheTensors({ ...cache, layers })] : [logits];
  });
  const logits = kept[0] as Tensor3D;
  if (!cache) return { logits };
  return { logits, cache: { layers, positions: positions.key, real: placed.real, seqLen: cache.seqLen } };
}

/** What every layer of one forward call shares. */
interface Scope {
  readonly c: ModelConfig;
  readonly params: Params;
  readonly batch: number;
  readonly length: number;
  readonly random: Random | undefined;
  readonly offsets: OffsetPlan;
}

interface LayerScope extends Scope {
  readonly mask: Mask;
}

function block(x: Tensor2D, index: number, hooks: LayerHooks, scope: LayerScope, past: LayerCache | undefined) {
  const { normPlacement: placement, parallelResidual, dropout: rate } = scope.c;
  const [attend, feed] = [`layers.${index}.attention`, `layers.${index}.mlp`];
  const before = (u: Tensor2D, sublayer: string) =>
    placement === 'pre' || placement === 'both' ? norm(u, `${sublayer}.norm`, scope) : u;
  const output = (u: Tensor2D, sublayer: string) => {
    const normed = { pre: '', post: '', output: 'norm', both: 'outputNorm' }[placement];
    return dropout(normed ? norm(u, `${sublayer}.${normed}`, scope) : u, rate, scope.random);
  };
  const after = (sum: Tensor2D, sublayer: string) =>
    placement === 'post' ? norm(sum, `${sublayer}.norm`, scope) : sum;

  const input = scope.c.skipFirstNorm && index === 0 ? x : before(x, attend);
  const attended = selfAttention(input, attend, hooks, scope, past);
  let y = tf.add(x, output(attended.y, attend)) as Tensor2D;
  if (!parallelResidual) y = after(y, attend);
  const read = parallelResidual === 'sharedNorm' ? input : before(parallelResidual ? x : y, feed);
  y = after(tf.add(y, output(mlp(read, feed, scope), feed)), feed);
  return { x: y, cache: attended.cache };
}

function selfAttention(x: Tensor2D, path: string, hooks: LayerHooks, scope: LayerScope, past: LayerCache | undefined) {
  const { c, batch, length } = scope;
  const heads = (u: Tensor2D, n: number): Tensor4D => u.reshape([batch, length, n, c.headDim]).transpose([0, 2, 1, 3]);
  const grow = (old: Tensor4D | undefined, now: Tensor4D) => (old ? (tf.concat([old, now], 2) as Tensor4D) : now);
  const x3 = x.reshape([batch, length, c.modelDim]) as Tensor3D;

  const asked = hooks.infuse ? (hooks.infuse(x3).reshape(x.shape) as Tensor2D) : x;
  const normed = (side: 'query' | 'key', n: number): Tensor4D => {
    const u = linear(asked, `${path}.${side}`, scope);
    if (!c.qkNorm) return heads(u, n);
    const unit = <T extends Tensor>(v: T) => rmsNorm(v, gain(`${path}.${side}Norm`, scope), c.normEps);
    return c.qkNorm === 'projection' ? heads(unit(u), n) : unit(heads(u, n));
  };
  const q = normed('query', c.numHeads);
  const newKeys = normed('key', c.numKvHeads);
  const readsKeys = hooks.bias !== undefined || hooks.scores !== undefined;
  const cache: LayerCache = {
    k: grow(past?.k, hooks.rotate?.(newKeys, 'key') ?? newKeys),
    v: grow(past?.v, heads(linear(x, `${path}.value`, scope), c.numKvHeads)),
    ...(readsKeys && { rawKeys: grow(past?.rawKeys, newKeys) }),
    ...(hooks.carry && { carried: grow(past?.carried, hooks.carry(x3)) }),
  };
  const mixed = attention(q, cache.k, cache.v, hooks, {
    mask: scope.mask,
    scoreScale: c.scoreScale,
    softcap: c.scoreSoftcap,
    dropout: scope.random && { rate: c.dropout, random: scope.random },
    offsets: scope.offsets,
    x: x3,
    rawKeys: cache.rawKeys,
    carried: cache.carried,
    project: (side, table) => {
      const n = side === 'query' ? c.numHeads : c.numKvHeads;
      const projected = linear(table, `${path}.${side}`, scope).reshape([-1, n, c.headDim]).transpose([1, 0, 2]);
      return (n === c.numHeads ? projected : tf.gather(projected, headOfGroup(c))) as Tensor3D;
    },
  });
  const joined = mixed.transpose([0, 2, 1, 3]).reshape([batch * length, c.numHeads * c.headDim]) as Tensor2D;
  return { y: linear(joined, `${path}.output`, scope), cache };
}

function mlp(x: Tensor2D, path: string, scope: Scope): Tensor2D {
  const { gated, apply } = activations[scope.c.activation]!;
  const up = linear(x, `${path}.up`, scope);
  const hidden = gated ? apply(linear(x, `${path}.gate`, scope), up) : apply(up);
  return linear(hidden, `${path}.down`, scope);
}

function head(input: Tensor2D, scope: Scope): Tensor2D {
  const { c, params } = scope;
  const tokens = params['embedding.tokens'] as Tensor2D;
  let x = input;
  if (c.headTransform) {
    x = activations[c.headTransform]!.apply(linear(x, 'head.transform', scope));
    x = norm(x, 'head.norm', scope);
  }
  let logits: Tensor2D;
  if (!c.tiedEmbeddings) logits = tf.matMul(x, params['head.weight'] as Tensor2D);
  else if (x.shape[1] === c.embeddingDim) logits = tf.matMul(x, tokens, false, true);
  else logits = tf.matMul(tf.matMul(x, params['embedding.project'] as Tensor2D, false, true), tokens, false, true);
  if (c.headBias) logits = tf.add(logits, params['head.bias']!) as Tensor2D;
  if (c.logitScale !== undefined) logits = tf.mul(logits, c.logitScale) as Tensor2D;
  return c.logitSoftcap === undefined ? logits : tf.mul(tf.tanh(tf.div(logits, c.logitSoftcap)), c.logitSoftcap);
}

/** [B|1, T, E] */
function typeVectors({ tokens, types }: Input, params: Params): Tensor3D {
  const { rows, cols, data } = types ?? { rows: 1, cols: tokens.cols, data: new Int32Array(tokens.cols) };
  return tf.gather(params['embedding.types']!, tf.tensor2d(data, [rows, cols], 'int32')) as Tensor3D;
}

/** The mask of each layer; layers with the same window share one. */
function layerMasks({ slidingWindow }: ModelConfig, request: MaskRequest): (layer: number) => Mask {
  const windows = Array.isArray(slidingWindow) ? slidingWindow : [slidingWindow];
  const masks = new Map<number | null | undefined, Mask>();
  for (const window of new Set(windows))
    masks.set(window, createMask({ ...request, slidingWindow: window ?? undefined }));
  return (layer) => masks.get(windows[layer % windows.length])!;
}

/** x·W + b; the bias where the model has one. Weights are [in, out], so that no product needs a transpose. */
function linear(x: Tensor2D, path: string, { params }: Scope): Tensor2D {
  const product = tf.matMul<Tensor2D>(x, params[`${path}.weight`] as Tensor2D);
  const bias = params[`${path}.bias`];
  return bias ? (tf.add(product, bias) as Tensor2D) : product;
}

function norm(x: Tensor2D, path: string, scope: Scope): Tensor2D {
  const { c, params } = scope;
  return c.norm === 'layernorm'
    ? layerNorm(x, gain(path, scope), params[`${path}.bias`], c.normEps)
    : rmsNorm(x, gain(path, scope), c.normEps);
}

function gain(path: string, { c, params }: Scope): Tensor {
  const stored = params[`${path}.gain`]!;
  return c.zeroCenteredGain ? tf.add(stored, 1) : stored;
}

/** For each query head, the key/value head of its group. */
const headOfGroup = (c: ModelConfig) =>
  tf.tensor1d(
    Array.from({ length: c.numHeads }, (_, h) => Math.floor((h * c.numKvHeads) / c.numHeads)),
    'int32',
  );

/** Every parameter but the encoding's. Projections that end a sublayer start smaller (GPT-2), so depth does not blow up the sum. */
function modelParams(c: ModelConfig): ParamSpecs {
  const specs: Record<string, ParamSpec> = {};
  const matrix = (path: string, rows: number, cols: number, std = c.initStd) => {
    specs[path] = { shape: [rows, cols], init: { kind: 'normal', std }, decay: true };
  };
  const vector = (path: string, size: number, value: number) => {
    specs[path] = { shape: [size], init: { kind: 'constant', value } };
  };
  const dense = (path: string, rows: number, cols: number, bias: boolean, std?: number) => {
    matrix(`${path}.weight`, rows, cols, std);
    if (bias) vector(`${path}.bias`, cols, 0);
  };
  const scale = (path: string, width: number) => vector(`${path}.gain`, width, c.zeroCenteredGain ? 0 : 1);
  const normalised = (path: string, width = c.modelDim) => {
    scale(path, width);
    if (c.norm === 'layernorm' && c.normBias) vector(`${path}.bias`, width, 0);
  };
  const [queryDim, kvDim] = [c.numHeads * c.headDim, c.numKvHeads * c.headDim];
  const qkvBias = c.attentionBias === 'all' || c.attentionBias === 'qkv';
  const outputBias = c.attentionBias === 'all' || c.attentionBias === 'output';
  const outputStd = c.initStd / Math.sqrt(2 * c.numLayers);

  matrix('embedding.tokens', c.vocabSize, c.embeddingDim, c.embeddingInitStd ?? c.initStd);
  if (c.numTokenTypes !== undefined) matrix('embedding.types', c.numTokenTypes, c.embeddingDim);
  if (c.embeddingNorm) normalised('embedding.norm', c.embeddingDim);
  if (c.embeddingDim !== c.modelDim) matrix('embedding.project', c.embeddingDim, c.modelDim);
  for (let l = 0; l < c.numLayers; l++) {
    const [attend, feed] = [`layers.${l}.attention`, `layers.${l}.mlp`];
    const unnormed = (c.skipFirstNorm && l === 0) || (c.parallelResidual && c.normPlacement === 'post');
    if (!unnormed) normalised(`${attend}.norm`);
    if (c.normPlacement === 'both') normalised(`${attend}.outputNorm`);
    dense(`${attend}.query`, c.modelDim, queryDim, qkvBias);
    dense(`${attend}.key`, c.modelDim, kvDim, qkvBias);
    dense(`${attend}.value`, c.modelDim, kvDim, qkvBias);
    if (c.qkNorm) {
      scale(`${attend}.queryNorm`, c.qkNorm === 'projection' ? queryDim : c.headDim);
      scale(`${attend}.keyNorm`, c.qkNorm === 'projection' ? kvDim : c.headDim);
    }
    dense(`${attend}.output`, queryDim, c.modelDim, outputBias, outputStd);
    if (c.parallelResidual !== 'sharedNorm') normalised(`${feed}.norm`);
    if (c.normPlacement === 'both') normalised(`${feed}.outputNorm`);
    dense(`${feed}.up`, c.modelDim, c.mlpDim, c.mlpBias);
    if (activations[c.activation]!.gated) dense(`${feed}.gate`, c.modelDim, c.mlpDim, c.mlpBias);
    dense(`${feed}.down`, c.mlpDim, c.modelDim, c.mlpBias, outputStd);
  }
  if (c.normPlacement !== 'post') normalised('norm');
  if (c.headTransform) {
    dense('head.transform', c.modelDim, c.embeddingDim, c.mlpBias);
    normalised('head.norm', c.embeddingDim);
  }
  if (!c.tiedEmbeddings) matrix('head.weight', c.headTransform ? c.embeddingDim : c.modelDim, c.vocabSize);
  if (c.headBias) vector('head.bias', c.vocabSize, 0);
  return specs;
}
