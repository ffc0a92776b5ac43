/**
 * Channel pairs turned by angles, one table of cosines and one of sines for all heads. For a pair (x, y) of token t
 *
 *     x' = x·cos_t − y·sin_t        y' = y·cos_t + x·sin_t
 *
 * Kernel `RotatePairs`: inputs u [B, heads, T, Dh], cos and sin [B|1, 1, T, r/2] (r ≤ Dh; the other channels pass through);
 * attributes from and to (where the members of a pair stand before and after) and transposed. Transposed it is its own gradient:
 * from and to change places and sin its sign, whatever factors the tables carry.
 */

import type { Tensor, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { PosencError } from '../errors.ts';
import { expectFloats } from './expect.ts';
import { ensureGradient, hasKernel, runKernel } from './fused.ts';

/** Where the members of pair k stand: at k and k + r/2 (half), or at 2k and 2k + 1 (interleaved). */
export type PairLayout = 'half' | 'interleaved';

/** Cosines and sines, maybe times a factor, float32 [B|1, 1, T, r/2]. Constants: no gradient reaches them. */
export interface PairTables {
  readonly cos: Tensor4D;
  readonly sin: Tensor4D;
}

/**
 * Turns the first r = 2 × (pairs of the tables) channels of u [B, heads, T, Dh] and passes the others through; differentiable in
 * u. Throws PosencError when the tables do not fit u: another T, another batch, or more channels than u has; when they are not
 * alike; and when anything is not float32.
 */
export function rotatePairs(u: Tensor4D, tables: PairTables, from: PairLayout, to: PairLayout = from): Tensor4D {
  expectFloats('rotation', { u: [u, ['B', 'heads', 'T', 'Dh']], cos: [tables.cos, ['B|1', 1, 'T', 'r/2']] });
  expectFloats('rotation', { sin: [tables.sin, tables.cos.shape] });
  const [batch, , length, width] = u.shape;
  const [rows, , cols, pairs] = tables.cos.shape;
  if ((rows !== 1 && rows !== batch) || cols !== length || 2 * pairs > width)
    throw new PosencError(
      `rotation: tables for ${rows} row(s) of ${cols} positions and ${2 * pairs} channels do not fit a tensor of shape ` +
        `[${u.shape.join(', ')}] (batch, heads, positions, channels)`,
    );
  return hasKernel('RotatePairs') ? fused(u, tables, from, to) : composed(u, tables, from, to);
}

function fused(u: Tensor4D, { cos, sin }: PairTables, from: PairLayout, to: PairLayout): Tensor4D {
  ensureGradient('RotatePairs', {
    inputs: ['cos', 'sin'],
    outputs: [],
    backward([dy], [c, s], attributes) {
      const back = { from: attributes.to!, to: attributes.from!, transposed: !attributes.transposed };
      return { u: runKernel('RotatePairs', { u: dy!, cos: c!, sin: s! }, back)[0]! };
    },
  });
  return runKernel('RotatePairs', { u, cos, sin }, { from, to, transposed: false })[0] as Tensor4D;
}

function composed(u: Tensor4D, { cos, sin }: PairTables, from: PairLayout, to: PairLayout): Tensor4D {
  const [batch, numHeads, length, width] = u.shape;
  const pairs = cos.shape[3];
  return tf.tidy(() => {
    const rest = width - 2 * pairs;
    const [turning, passing] = rest ? tf.split(u, [2 * pairs, rest], 3) : [u];
    // One member of each pair in front of the other: then both are contiguous, and slicing them is free on every backend.
    const n = batch * numHeads * length;
    const shape = from === 'half' ? [n, 2, pairs] : [n, pairs, 2];
    const toFront = from === 'half' ? [1, 0, 2] : [2, 0, 1];
    const back = to === 'half' ? [1, 0, 2] : [1, 2, 0];
    const members = tf.unstack(turning!.reshape(shape).transpose(toFront));
    const [x, y] = members.map((member) => member.reshape([batch, numHeads, length, pairs])) as [Tensor, Tensor];
    const turned = tf.stack([tf.sub(tf.mul(x, cos), tf.mul(y, sin)), tf.add(tf.mul(y, cos), tf.mul(x, sin))]);
    const inPlace = turned.reshape([2, n, pairs]).transpose(back);
    const result = inPlace.reshape([batch, numHeads, length, 2 * pairs]);
    return (passing ? tf.concat([result, passing], 3) : result) as Tensor4D;
  });
}
