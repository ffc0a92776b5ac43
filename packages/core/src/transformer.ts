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
import { type Input, place } from './input.ts';
import { activations } from './kernels/activation.ts';
import { dropout } from './kernels/dropout.ts';
import { rmsStandardize, standardize } from './kernels/norm.ts';
import { createMask, type Mask } from './mask.ts';
import { type OffsetPlan, planOffsets } from './offsets.ts';
import { type Params, withoutPrefix, withPrefix } from './params.ts';
import type { Random } from './random.ts';

export interface Transformer {
  readonly config: ModelConfig;
  readonly dims: Dims;
  readonly encoding: Encoding;
  /** Every parameter by path: `layers.0.attention.query.weight` … and the encoding's under `encoding.`. */
  readonly params: ParamSpecs;
  /** Logits [B, T, V]; with a cache, of the new tokens only, and the cache that goes on from them. */
  forward(params: Params, input: Input, options?: ForwardOptions): Output;
}

export interface ForwardOptions {
  /** Go on from here (`startCache` opens a session). */
  readonly cache?: Cache;
  /** Training: the stream that dropout draws from. Absent: no dropout. */
  readonly random?: Random;
}

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
  const forward = (weights: Params, input: Input, options: ForwardOptions = {}) =>
    run(config, encoding, weights, input, options);
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
    const scope: Scope = {
      c,
      params,
      batch,
      length,
      random,
      mask: createMask({ ...c, ...placed, numQueries: length, numKeys: positions.key.cols }),
      offsets: planOffsets(positions.query, positions.key),
    };

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
      const step = block(x, `layers.${l}`, hooks.layer?.(l) ?? {}, scope, cache?.layers[l]);
      x = step.x;
      layers.push(step.cache);
    }
    if (c.normPlacement === 'pre') x = norm(x, 'norm', scope);
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
  readonly mask: Mask;
  readonly offsets: OffsetPlan;
}

function block(x: Tensor2D, path: string, hooks: LayerHooks, scope: Scope, past: LayerCache | undefined) {
  const { c } = scope;
  const drop = (y: Tensor2D) => dropout(y, c.dropout, scope.random);
  const pre = c.normPlacement === 'pre';
  const [attend, feed] = [`${path}.attention`, `${path}.mlp`];

  const attended = selfAttention(pre ? norm(x, `${attend}.norm`, scope) : x, attend, hooks, scope, past);
  if (c.parallelResidual) {
    const fed = mlp(pre ? norm(x, `${feed}.norm`, scope) : x, feed, scope);
    const sum = tf.add(tf.add(x, drop(attended.y)), drop(fed)) as Tensor2D;
    return { x: pre ? sum : norm(sum, `${feed}.norm`, scope), cache: attended.cache };
  }
  let y = tf.add(x, drop(attended.y)) as Tensor2D;
  if (!pre) y = norm(y, `${attend}.norm`, scope);
  y = tf.add(y, drop(mlp(pre ? norm(y, `${feed}.norm`, scope) : y, feed, scope))) as Tensor2D;
  if (!pre) y = norm(y, `${feed}.norm`, scope);
  return { x: y, cache: attended.cache };
}

function selfAttention(x: Tensor2D, path: string, hooks: LayerHooks, scope: Scope, past: LayerCache | undefined) {
  const { c, batch, length } = scope;
  const heads = (u: Tensor2D, n: number): Tensor4D => u.reshape([batch, length, n, c.headDim]).transpose([0, 2, 1, 3]);
  const grow = (old: Tensor4D | undefined, now: Tensor4D) => (old ? (tf.concat([old, now], 2) as Tensor4D) : now);
  const x3 = x.reshape([batch, length, c.modelDim]) as Tensor3D;

  const q = headNorm(heads(linear(x, `${path}.query`, scope), c.numHeads), `${path}.queryNorm`, scope);
  const newKeys = headNorm(heads(linear(x, `${path}.key`, scope), c.numKvHeads), `${path}.keyNorm`, scope);
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
  const hidden = gated ? (tf.mul(apply(linear(x, `${path}.gate`, scope)), up) as Tensor2D) : apply(up);
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
  return c.logitSoftcap === undefined ? logits : tf.mul(tf.tanh(tf.div(logits, c.logitSoftcap)), c.logitSoftcap);
}

/** [B|1, T, E] */
function typeVectors({ tokens, types }: Input, params: Params): Tensor3D {
  const { rows, cols, data } = types ?? { rows: 1, cols: tokens.cols, data: new Int32Array(tokens.cols) };
  return tf.gather(params['embedding.types']!, tf.tensor2d(data, [rows, cols], 'int32')) as Tensor3D;
}

/** x·W + b; the bias where the model has one. Weights are [in, out], so that no product needs a transpose. */
function linear(x: Tensor2D, path: string, { params }: Scope): Tensor2D {
  const product = tf.matMul<Tensor2D>(x, params[`${path}.weight`] as Tensor2D);
  const bias = params[`${path}.bias`];
  return bias ? (tf.add(product, bias) as Tensor2D) : product;
}

function norm(x: Tensor2D, path: string, { c, params }: Scope): Tensor2D {
  const unit = c.norm === 'layernorm' ? standardize(x, c.normEps) : rmsStandardize(x, c.normEps);
  const scaled = tf.mul(unit, params[`${path}.gain`]!) as Tensor2D;
  const bias = params[`${path}.bias`];
  return bias ? (tf.add(scaled, bias) as Tensor2D) : scaled;
}

function headNorm(u: Tensor4D, path: string, { c, params }: Scope): Tensor4D {
  return c.qkNorm ? (tf.mul(rmsStandardize(u, c.normEps), params[`${path}.gain`]!) as Tensor4D) : u;
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
  const normalised = (path: string, width = c.modelDim) => {
    vector(`${path}.gain`, width, 1);
    if (c.norm === 'layernorm' && c.normBias) vector(`${path}.bias`, width, 0);
  };
  const [queryDim, kvDim] = [c.numHeads * c.headDim, c.numKvHeads * c.headDim];
  const outputStd = c.initStd / Math.sqrt(2 * c.numLayers);

  matrix('embedding.tokens', c.vocabSize, c.embeddingDim, c.embeddingInitStd ?? c.initStd);
  if (c.numTokenTypes !== undefined) matrix('embedding.types', c.numTokenTypes, c.embeddingDim);
  if (c.embeddingNorm) normalised('embedding.norm', c.embeddingDim);
  if (c.embeddingDim !== c.modelDim) matrix('embedding.project', c.embeddingDim, c.modelDim);
  for (let l = 0; l < c.numLayers; l++) {
    const [attend, feed] = [`layers.${l}.attention`, `layers.${l}.mlp`];
    normalised(`${attend}.norm`);
    dense(`${attend}.query`, c.modelDim, queryDim, c.attentionBias !== 'none');
    dense(`${attend}.key`, c.modelDim, kvDim, c.attentionBias !== 'none');
    dense(`${attend}.value`, c.modelDim, kvDim, c.attentionBias !== 'none');
    if (c.qkNorm) for (const side of ['queryNorm', 'keyNorm']) vector(`${attend}.${side}.gain`, c.headDim, 1);
    dense(`${attend}.output`, queryDim, c.modelDim, c.attentionBias === 'all', outputStd);
    normalised(`${feed}.norm`);
    dense(`${feed}.up`, c.modelDim, c.mlpDim, c.mlpBias);
    if (activations[c.activation]!.gated) dense(`${feed}.gate`, c.modelDim, c.mlpDim, c.mlpBias);
    dense(`${feed}.down`, c.mlpDim, c.modelDim, c.mlpBias, outputStd);
  }
  if (c.normPlacement === 'pre') normalised('norm');
  if (c.headTransform) {
    dense('head.transform', c.modelDim, c.embeddingDim, c.mlpBias);
    normalised('head.norm', c.embeddingDim);
  }
  if (!c.tiedEmbeddings) matrix('head.weight', c.headTransform ? c.embeddingDim : c.modelDim, c.vocabSize);
  if (c.headBias) vector('head.bias', c.vocabSize, 0);
  return specs;
}
