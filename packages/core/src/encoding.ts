/**
 * The contract every positional encoding implements. For query position i, key position j, head h, layer l:
 *
 *     x_i  ← embed(x)_i                                        absolute vectors, once, after the token lookup
 *     q_i, k_i = W_q, W_k infuse(x_i)                          positions for queries and keys alone, in each layer; v_i = W_v x_i
 *     s_ij = scale_ij · ⟨R q_i, R k_j⟩ · scoreScale            rotate, scale; or `scores` replaces the product
 *     s_ij = softcap(s_ij) + relativeBias(j − i) + bias_ij     then mask → softmax → dropout
 *     o_i  = mix(weights, v)_i                                 relative values
 *
 * An encoding fills a few of these holes and leaves the rest empty; NoPE is `{}`. Shape letters, used everywhere:
 * B batch · T tokens (Tq queries, Tk keys) · D modelDim · H heads (Hkv key/value heads) · Dh headDim · V vocabulary.
 */
import type { Tensor, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import type { ZodType } from 'zod';

/** What an encoding may know of the stack it is created for. An encoder and a decoder each have their own. */
export interface Dims {
  readonly modelDim: number;
  /** Width of the token embedding, where `embed` acts (ALBERT's is smaller than modelDim). */
  readonly embeddingDim: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly causal: boolean;
}

/** Integers laid out as rows of a batch, on the host. `rows` is 1 when all rows are equal. */
export interface Grid {
  readonly rows: number;
  readonly cols: number;
  /** Row-major, rows × cols. */
  readonly data: Int32Array;
}

/** Where the tokens of one forward call stand. Host data, so tables can be computed in float64. */
export interface Positions {
  /** [B|1, Tq] the tokens of this call: all that `embed` and `rotate` act on, both sides. */
  readonly query: Grid;
  /** [B|1, Tk] every key in view, cached ones first: read by biases only. */
  readonly key: Grid;
  /** [B|1, Tq] length of each query token's own sequence; fixed for a decoding session. */
  readonly seqLen: Grid;
}

/** What one forward call does with positions. An absent hook is a hole left empty. */
export interface Hooks {
  /** [B, Tq, embeddingDim] → same shape. */
  embed?(x: Tensor3D): Tensor3D;
  layer?(index: number): LayerHooks;
}

/** What one attention layer does with positions. `attention` is the only caller. */
export interface LayerHooks {
  /** [B, Tq, D] (the layer's input, after its norm) → same: what queries and keys are projected from. Values read the input itself. */
  infuse?(x: Tensor3D): Tensor3D;
  /** [B, H|Hkv, Tq, Dh] → [B, same, Tq, Dr]; Dr must be equal for both sides. Keys are cached rotated. */
  rotate?(u: Tensor4D, side: 'query' | 'key'): Tensor4D;
  /** Multiplies the scores: a number or [B|1, H|1, Tq|1, Tk|1]. */
  scale?: number | Tensor4D;
  /** A bias that depends on the offset alone: distinct offsets key − query [n] → [H, n]. */
  relativeBias?(offsets: Int32Array): Tensor2D;
  /** [B, Tq, D] (the attention input) → [B, H, Tq, F] numbers per token that core caches beside k and v. */
  carry?(x: Tensor3D): Tensor4D;
  /** [B, H, Tq, Tk] replaces the scaled product; at most one encoding per layer. */
  scores?(site: Site): Tensor4D;
  /** [B|1, H|1, Tq|1, Tk|1] added to the scores: needs absolute positions or content. */
  bias?(site: Site): Tensor4D;
  /** (weights [B, H, Tq, Tk], v [B, H, Tk, Dh]) → [B, H, Tq, Dh] replaces `weights · v`. */
  mix?(weights: Tensor4D, v: Tensor4D): Tensor4D;
}

/** The attention layer as `scores` and `bias` see it. */
export interface Site {
  /** [B, Tq, D] the layer's input, after its norm, not infused. */
  readonly x: Tensor3D;
  /** [B, H, Tq, Dh] queries of this call, unrotated. */
  readonly q: Tensor4D;
  /** [B, H, Tk, Dh] all keys in view, unrotated, repeated to H heads. */
  readonly k: Tensor4D;
  /** [B, H, Tk, F] what `carry` returned for every key in view. */
  readonly carried?: Tensor4D;
  /** 1/√Dh unless the model says otherwise (T5: 1). */
  readonly scoreScale: number;
  /** [B, H, Tq, Tk] scaled and masked (very negative where hidden), before any bias. */
  scores(): Tensor4D;
  /** [n, D] → [H, n, Dh]: a table sent through this layer's own query or key projection. */
  project(side: 'query' | 'key', table: Tensor2D): Tensor3D;
}

/** Facts an encoding states about itself. No trait without a law in the testkit that tests it. */
export interface Traits {
  /** Exclusive; Infinity: defined everywhere (whether it works well there is a measurement, not a trait). */
  readonly maxPosition: number;
  /** Positions p → p + c leave the logits unchanged. */
  readonly shiftInvariant: boolean;
  /** Refuses a bidirectional stack. */
  readonly requiresCausal: boolean;
  /** false: any positions give the same bits; true: permuting position numbers moves the logits. */
  readonly readsPositions: boolean;
  /** The length of the whole sequence matters (dynamic NTK, LongRoPE). */
  readonly readsSeqLen: boolean;
}

/** How a parameter is drawn: plain data, so that it can be printed, counted and hashed before allocation. */
export type Init =
  | { readonly kind: 'normal'; readonly std: number; readonly mean?: number }
  | { readonly kind: 'uniform'; readonly low: number; readonly high: number }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'values'; readonly values: readonly number[] };

/** A trained tensor, described; core draws it with a stream of its own, seeded by its path. */
export interface ParamSpec {
  readonly shape: readonly number[];
  readonly init: Init;
  /** Weight decay applies; default: false for an encoding's parameters. */
  readonly decay?: boolean;
}

/** Descriptions by name. */
export type ParamSpecs = Readonly<Record<string, ParamSpec>>;
/** The tensors for these descriptions, by the same names. */
export type ParamTensors<P extends ParamSpecs> = { readonly [N in keyof P]: Tensor };

/** An encoding created for one stack: traits, parameters wanted, and the function from both to hooks. */
export interface Encoding<P extends ParamSpecs = ParamSpecs> {
  readonly traits: Traits;
  readonly params: P;
  /** Curried: `hooks(params)(positions)` runs once per forward, and tables live in that closure. No other cache. */
  hooks(params: ParamTensors<P>): (at: Positions) => Hooks;
}

/** Numbers an encoding is made of, for `inspect` to print and draw. What they are decides the picture, not whose they are. */
export interface NamedTable {
  readonly name: string;
  /** frequency: radians per position, one per channel pair · bucket: a row index per offset · slope: per head · value: anything else. */
  readonly quantity: 'frequency' | 'bucket' | 'slope' | 'value';
  /** One name per dimension: ['pair'], ['offset'], ['head', 'offset'] … */
  readonly axes: readonly string[];
  readonly shape: readonly number[];
  /** First index of each axis when it is not 0 (offsets start below zero). */
  readonly start?: readonly number[];
  /** Row-major, float64. */
  readonly data: ArrayLike<number>;
}

/** An encoding as a plug-in: what a package exports and the registry holds. */
export interface PositionalEncoding<Type extends string = string, Config = unknown> {
  readonly contract: 1;
  /** The discriminant of the JSON config, e.g. 'rope'. */
  readonly type: Type;
  /** Paper, year, link. */
  readonly reference: string;
  /** One line in the grammar's symbols, for `list` and `inspect`. */
  readonly equation: string;
  /** Strict, without `type`; defaults filled in, unknown keys rejected. */
  readonly config: ZodType<Config>;
  /** Where the paper, its code and practice differ, and which of them the default follows. */
  readonly notes: readonly string[];
  /** Types that are asked for in its place and are not built, each with why: said where a guess at what was meant would mislead. */
  readonly notBuilt?: Readonly<Record<string, string>>;
  create(config: Config, dims: Dims): Encoding;
  /** What `inspect` shows beyond what it can measure by calling the hooks. */
  tables?(config: Config, dims: Dims): readonly NamedTable[];
}

/** Infers an encoding's parameter names, so `hooks(({ table }) => …)` is typed without annotations. */
export function encoding<P extends ParamSpecs>(created: Encoding<P>): Encoding {
  return created as unknown as Encoding;
}

/** Checks an encoding's shape at compile time and keeps its literal `type` and config type. */
export function defineEncoding<const Type extends string, Config>(
  plugin: PositionalEncoding<Type, Config>,
): PositionalEncoding<Type, Config> {
  return plugin;
}
