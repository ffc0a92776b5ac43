/** Attention with every hole of the grammar: the one place that calls `rotate` (queries), `scale`, biases, `scores` and `mix`. */

import type { Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import type { LayerHooks, Site } from './encoding.ts';
import { hasAttentionKernel, streamingAttention } from './kernels/attention-kernel.ts';
import { drawMask, dropout } from './kernels/dropout.ts';
import type { Mask } from './mask.ts';
import type { OffsetPlan } from './offsets.ts';
import type { Random } from './random.ts';

/** What surrounds one attention layer. Everything but the mask and the score scale is needed only by hooks that ask for it. */
export interface AttentionContext {
  readonly mask: Mask;
  /** 1/√Dh; T5: 1. */
  readonly scoreScale: number;
  /** c·tanh(score/c) before biases. */
  readonly softcap?: number;
  readonly dropout?: { readonly rate: number; readonly random: Random };
  /** How `relativeBias` becomes a matrix. */
  readonly offsets?: OffsetPlan;
  /** [B, Tq, D], for `scores` and `bias`. */
  readonly x?: Tensor3D;
  /** [B, Hkv, Tk, Dh] keys before rotation, for `scores` and `bias`. */
  readonly rawKeys?: Tensor4D;
  readonly carried?: Tensor4D;
  readonly project?: (side: 'query' | 'key', table: Tensor2D) => Tensor3D;
}

/**
 * softmax(scale · ⟨R q, k⟩ · scoreScale + biases + mask) · v.
 *
 * @param q [B, H, Tq, Dh] unrotated queries
 * @param k [B, Hkv, Tk, Dr] keys in view, already rotated (as a cache keeps them)
 * @param v [B, Hkv, Tk, Dh]; H is a multiple of Hkv (grouped queries)
 * @returns [B, H, Tq, Dh]; a query that sees no key gets zeros
 */
export function attention(
  q: Tensor4D,
  k: Tensor4D,
  v: Tensor4D,
  hooks: LayerHooks,
  context: AttentionContext,
): Tensor4D {
  if (hasAttentionKernel() && streams(hooks, context)) return streamed(q, k, v, hooks, context);
  const { mask, softcap } = context;
  const hide = (scores: Tensor4D) => (mask.additive ? (tf.add(scores, mask.additive) as Tensor4D) : scores);
  const scaled = (): Tensor4D => {
    const product = hooks.scores
      ? hooks.scores(site)
      : (tf.mul(grouped(hooks.rotate?.(q, 'query') ?? q, k, true), context.scoreScale) as Tensor4D);
    const scores = hooks.scale === undefined ? product : (tf.mul(product, hooks.scale) as Tensor4D);
    return softcap === undefined ? scores : (tf.mul(tf.tanh(tf.div(scores, softcap)), softcap) as Tensor4D);
  };
  const site = createSite(q, context, () => hide(base));
  const base = scaled();

  let scores = base;
  if (hooks.relativeBias) {
    const plan = required(context.offsets, 'relativeBias', 'offsets');
    scores = tf.add(scores, plan.expand(hooks.relativeBias(plan.offsets))) as Tensor4D;
  }
  if (hooks.bias) scores = tf.add(scores, hooks.bias(site)) as Tensor4D;

  let weights = tf.softmax(hide(scores));
  if (mask.alive) weights = tf.mul(weights, mask.alive) as Tensor4D;
  if (context.dropout) weights = dropout(weights, context.dropout.rate, context.dropout.random);
  return hooks.mix ? hooks.mix(weights, repeatHeads(v, q.shape[1])) : grouped(weights, v, false);
}

/** Whether the hooks need no matrix of scores or weights: then one kernel does it all, with the same results. */
function streams({ scores, bias, mix, scale, relativeBias }: LayerHooks, context: AttentionContext): boolean {
  const { mask, offsets } = context;
  const perQuery = scale === undefined || typeof scale === 'number' || scale.shape[3] === 1;
  const knownMask = mask.request !== undefined || (mask.additive === undefined && mask.alive === undefined);
  const banded = !relativeBias || offsets?.band !== undefined;
  return !scores && !bias && !mix && perQuery && knownMask && banded;
}

function streamed(q: Tensor4D, k: Tensor4D, v: Tensor4D, hooks: LayerHooks, context: AttentionContext): Tensor4D {
  const { scale = 1, relativeBias } = hooks;
  const { mask, offsets, scoreScale, softcap, dropout: dropped } = context;
  const band = offsets?.band;
  const rotated = hooks.rotate?.(q, 'query') ?? q;
  const fixed = typeof scale === 'number';
  return streamingAttention(fixed ? rotated : (tf.mul(rotated, scale) as Tensor4D), k, v, {
    scale: fixed ? scoreScale * scale : scoreScale,
    softcap,
    mask: mask.request,
    ...(relativeBias && band && { bias: { ...band, row: relativeBias(band.offsets) } }),
    ...(dropped?.rate && { dropout: drawMask(dropped.rate, dropped.random) }),
  });
}

/** a [B, H, n, ·] times b (or its transpose) [B, Hkv, ·, ·]: queries of one group share a key/value head without copies of it. */
function grouped(a: Tensor4D, b: Tensor4D, transpose: boolean): Tensor4D {
  const [batch, numHeads, n, width] = a.shape;
  const numKvHeads = b.shape[1];
  if (numHeads === numKvHeads) return tf.matMul(a, b, false, transpose) as Tensor4D;
  const folded = a.reshape([batch, numKvHeads, (numHeads / numKvHeads) * n, width]);
  const product = tf.matMul(folded, b, false, transpose);
  return product.reshape([batch, numHeads, n, product.shape[3]!]);
}

/** [B, Hkv, T, Dh] → [B, H, T, Dh], each head followed by its copies. */
export function repeatHeads(u: Tensor4D, numHeads: number): Tensor4D {
  const [batch, numKvHeads, length, width] = u.shape;
  if (numKvHeads === numHeads) return u;
  const copies = Array.from({ length: numHeads / numKvHeads }, () => u.reshape([batch, numKvHeads, 1, length * width]));
  return tf.concat(copies, 2).reshape([batch, numHeads, length, width]);
}

function createSite(q: Tensor4D, context: AttentionContext, scores: () => Tensor4D): Site {
  return {
    get x() {
      return required(context.x, 'this hook', 'x');
    },
    q,
    get k() {
      return repeatHeads(required(context.rawKeys, 'this hook', 'rawKeys'), q.shape[1]);
    },
    carried: context.carried,
    scoreScale: context.scoreScale,
    scores,
    project: (side, table) => required(context.project, 'this hook', 'project')(side, table),
  };
}

function required<T>(value: T | undefined, hook: string, name: string): T {
  if (value === undefined) throw new TypeError(`attention: ${hook} needs \`${name}\` in the attention context`);
  return value;
}
