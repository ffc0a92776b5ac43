/**
 * KERPLE, kernelized relative positional embedding: each head lowers its scores by a kernel of the distance whose few numbers it
 * learns, or fades them by one, or both. One set of numbers for all layers.
 *
 *     s_ij = exp(k_w(|i − j|)) · ⟨q_i, k_j⟩ · scoreScale + k_b(|i − j|)          (the bias is added after the scale, never scaled itself)
 *
 * A parameter θ that training takes across a bound comes back on the other side: α = |θ|, β = |θ|, γ reflected into 0 … 2.
 */
import { defineEncoding, encoding, type Init, type ParamSpec, planOffsets, z } from '@posenc/core';
import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { type KerpleKernel, kernels, kernelTensor, type Letter, letters, positive, withinTwo } from './kernels.ts';

const choice = z.enum([...kernels, 'none']);

const config = z
  .strictObject({
    bias: choice.default('log').describe('Kernel added to the scores.'),
    weight: choice.default('none').describe('Kernel whose exponential multiplies the scores.'),
  })
  .refine(({ bias, weight }) => bias !== 'none' || weight !== 'none', {
    path: ['bias'],
    message: 'without a bias or a weight nothing is left of it: choose a kernel for one of them, or use "nope"',
  });

/** The options, defaults filled in. */
export type KerpleConfig = z.infer<typeof config>;
type Use = 'bias' | 'weight';

/** The authors draw an exponent, and the factor of the logarithm, from U(0, 2), the other numbers from U(0, 1). */
const initOf = (kernel: KerpleKernel, letter: Letter): Init => ({
  kind: 'uniform',
  low: 0,
  high: letter === 'gamma' || (letter === 'alpha' && kernel !== 'power') ? 2 : 1,
});

/** Chi, Fan, Ramadge & Rudnicky 2022, https://arxiv.org/abs/2205.09921. */
export const kerple = defineEncoding({
  contract: 1,
  type: 'kerple',
  reference:
    'Chi, Fan, Ramadge & Rudnicky, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation, 2022, https://arxiv.org/abs/2205.09921',
  equation: 's_ij = exp(k_w(|i − j|)) · ⟨q_i, k_j⟩ · scoreScale + k_b(|i − j|);  log: k(d) = −α · ln(1 + β·d)',
  config,
  notes: [
    'The authors’ code adds the bias after 1/√headDim; the paper’s equation has it inside. The default follows the code.',
    'The authors put parameters back to at least 0.01, and exponents to at most 2, before each use. Here they are reflected at 0 and 2 instead, so that no gradient is lost and nothing is written to. Numbers within the bounds are their numbers.',
    'Their distance is 0 above the diagonal, where a causal mask hides it; here it is |i − j|, so that bidirectional stacks work too.',
    'Their names: p and a of the logarithm are α and β here, a and p of the power α and γ. pos_emb kerple_log is the default, kerple_power_ap_ is bias "power", kerple_power__ap weight "power" without a bias, kerple_power_ap_ap both.',
    'For the three-parameter logarithm no code was published: its numbers start as those of the other two.',
  ],
  create: (config, { numHeads }) => {
    const uses = (['bias', 'weight'] as const).flatMap((use) => {
      const kernel = config[use];
      return kernel === 'none' ? [] : [{ use, kernel }];
    });
    const specs = uses.flatMap(({ use, kernel }) =>
      letters[kernel].map((letter): [string, ParamSpec] => [
        `${use}.${letter}`,
        { shape: [numHeads], init: initOf(kernel, letter) },
      ]),
    );
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: Object.fromEntries(specs),
      hooks:
        (params: Readonly<Record<string, Tensor>>) =>
        ({ query, key }) => {
          const kernelOf = (use: Use, kernel: KerpleKernel, offsets: Int32Array) => {
            const bounded = letters[kernel].map((letter) => {
              const theta = params[`${use}.${letter}`]!;
              return [letter, letter === 'gamma' ? withinTwo(theta) : positive(theta)];
            });
            return kernelTensor(kernel, Object.fromEntries(bounded), offsets);
          };
          const { bias, weight } = config;
          const plan = planOffsets(query, key);
          const scale =
            weight !== 'none' && tf.tidy(() => plan.expand(tf.exp(kernelOf('weight', weight, plan.offsets))));
          return {
            layer: () => ({
              ...(bias !== 'none' && {
                relativeBias: (offsets) => tf.tidy(() => kernelOf('bias', bias, offsets)),
              }),
              ...(scale && { scale }),
            }),
          };
        },
    });
  },
});
