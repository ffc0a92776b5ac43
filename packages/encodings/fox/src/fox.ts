/**
 * The forget gate of FoX, the Forgetting Transformer: every token decides, per head, how much of what lies before it stays in view.
 *
 *     f_t = σ(⟨w_h, x_t⟩ + b_h)                                           x: the attention layer’s input
 *     s_ij = scoreScale · ⟨q_i, k_j⟩ + D_ij,   D_ij = Σ_{l=j+1…i} log f_l                     (added after the scale)
 *
 * With a constant gate this is ALiBi, with slope −log f.
 */
import { cumulativeSum, defineEncoding, encoding, layerOf, type ParamSpec, z } from '@posenc/core';
import type { Tensor, Tensor1D, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const decayTime = z.number().positive().max(1e9).optional();

const config = z
  .strictObject({
    gate: z
      .enum(['full', 'bias-only'])
      .default('full')
      .describe('The gate reads the token, or is one learned number per head.'),
    decayTimeMin: decayTime.describe('bias-only: the first head starts forgetting to 1/e within this many tokens.'),
    decayTimeMax: decayTime.describe('bias-only: the last head does; those between are spaced logarithmically.'),
  })
  .refine(({ gate, decayTimeMin: min, decayTimeMax: max }) => gate === 'bias-only' || (min ?? max) === undefined, {
    path: ['decayTimeMin'],
    message: 'is a start for gate "bias-only"; the full gate starts at bias 0, as the authors’ code requires',
  })
  .refine(({ decayTimeMin, decayTimeMax }) => (decayTimeMin === undefined) === (decayTimeMax === undefined), {
    path: ['decayTimeMax'],
    message: 'goes with decayTimeMin: give both, or neither to start all heads at bias 0',
  });

/** The options, defaults filled in. */
export type FoxConfig = z.infer<typeof config>;

/** Start b_h of the bias-only gate, float64: log σ(b_h) = −1/T_h with T_h from min to max tokens, logarithmically spaced. */
export function decayBias(numHeads: number, [min, max]: readonly [number, number]): Float64Array {
  const [first, last] = [Math.log(min), Math.log(max)];
  const steps = Math.max(numHeads - 1, 1);
  return Float64Array.from({ length: numHeads }, (_, h) => {
    const time = Math.exp(first + ((last - first) * h) / steps);
    return -Math.log(Math.expm1(1 / time));
  });
}

/** log σ(x), without overflow and without loss of digits where σ is close to 0 or 1. */
export const logSigmoid = <T extends Tensor>(x: T): T =>
  tf.sub(tf.minimum(x, 0), tf.log1p(tf.exp(tf.neg(tf.abs(x))))) as T;

/**
 * D_ij of the last `numQueries` tokens: log f [B, H, Tk] → [B, H, numQueries, Tk]. Only what stands on and below the diagonal means
 * anything. A difference of running sums, which float32 would spoil: over a thousand tokens they reach −1000 and more, and leave 4
 * digits for the bias of neighbours. So gates are split into multiples of 2⁻¹⁰, whose sums are exact down to −2¹⁴, and small rests.
 */
export function forgetBias(logGates: Tensor3D, numQueries: number): Tensor4D {
  const coarse = tf.div(tf.round(tf.mul(logGates, GRID)), GRID) as Tensor3D; // gradient 0: all of it goes through the rest
  return tf.add(differences(coarse, numQueries), differences(tf.sub(logGates, coarse), numQueries));
}

const GRID = 2 ** 10;

/** Σ_{l=j+1…i} for the last tokens i and all j. From the end, so that what decoding asks for is the smallest. */
function differences(logGates: Tensor3D, numQueries: number): Tensor4D {
  const [batch, numHeads, numKeys] = logGates.shape;
  const later = tf.sub(cumulativeSum(logGates, { fromEnd: true }), logGates); // Σ_{l > t}
  const ofQueries = tf.slice(later, [0, 0, numKeys - numQueries], [-1, -1, numQueries]);
  return tf.sub(
    later.reshape<Tensor4D>([batch, numHeads, 1, numKeys]),
    ofQueries.reshape<Tensor4D>([batch, numHeads, numQueries, 1]),
  );
}

/** Lin, Nikishin, He & Courville 2025, https://arxiv.org/abs/2503.02130. */
export const fox = defineEncoding({
  contract: 1,
  type: 'fox',
  reference:
    'Lin, Nikishin, He & Courville, Forgetting Transformer: Softmax Attention with a Forget Gate, 2025, https://arxiv.org/abs/2503.02130',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale + Σ_{l=j+1…i} log σ(⟨w_h, x_l⟩ + b_h)',
  config,
  notes: [
    'Gates start at N(0, 0.02) weights and bias 0, as in the authors’ code: every token then halves what lies before it.',
    'A fixed gate, their third variant, is ALiBi with slopes listed: slope −log σ(b) per token.',
    'It counts tokens, not position numbers, and can be combined with an encoding that reads those; the authors leave RoPE out.',
    'Their “Pro” block adds output gates, output norm, q/k-norm and key–value shift to it: model matters, not part of this encoding.',
  ],
  create: (c, { modelDim, numLayers, numHeads }) => {
    const bias: ParamSpec = { shape: [numLayers, numHeads], init: { kind: 'constant', value: 0 } };
    const start =
      c.decayTimeMin !== undefined && c.decayTimeMax !== undefined
        ? decayBias(numHeads, [c.decayTimeMin, c.decayTimeMax])
        : undefined;
    const values = start && Array.from({ length: numLayers }, () => [...start]).flat();
    const weight: ParamSpec = { shape: [numLayers, modelDim, numHeads], init: { kind: 'normal', std: 0.02 } };
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: true,
        readsPositions: false,
        readsSeqLen: false,
      },
      params: {
        ...(c.gate === 'full' && { weight }),
        bias: values ? { ...bias, init: { kind: 'values', values } } : bias,
      } as Record<string, ParamSpec>,
      hooks: (params) => () => {
        /** [B, T, D] → log f [B, H, T, 1]. */
        const gatesOf = (x: Tensor3D, layer: number): Tensor4D => {
          const [batch, length] = x.shape;
          const offset = layerOf<Tensor1D>(params.bias!, layer);
          const logits = params.weight
            ? tf.add(tf.matMul(x.reshape<Tensor2D>([-1, modelDim]), layerOf<Tensor2D>(params.weight, layer)), offset)
            : tf.mul(offset, tf.ones([batch * length, 1]));
          const byHead = logSigmoid(logits).reshape<Tensor3D>([batch, length, numHeads]).transpose([0, 2, 1]);
          return byHead.reshape<Tensor4D>([batch, numHeads, length, 1]);
        };
        return {
          layer: (index) => ({
            carry: (x) => tf.tidy(() => gatesOf(x, index)),
            bias: ({ q, carried }) =>
              tf.tidy(() => {
                const [batch, , length] = carried!.shape;
                return forgetBias(carried!.reshape<Tensor3D>([batch, numHeads, length]), q.shape[2]);
              }),
          }),
        };
      },
    });
  },
});
