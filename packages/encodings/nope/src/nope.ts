/**
 * NoPE, no positional encoding: every hook is absent, so the logits are those of content alone.
 *
 * A causal decoder still learns where it is, because the mask shows token i exactly i + 1 tokens; a bidirectional stack cannot:
 * permuting its input permutes its output. That makes NoPE a model of its own in the first case and a control in the second.
 */
import { defineEncoding, encoding, z } from '@posenc/core';

const config = z.strictObject({});

/** There are no options. */
export type NopeConfig = z.infer<typeof config>;

/** Kazemnejad et al. 2023, https://arxiv.org/abs/2305.19466; Haviv et al. 2022, https://arxiv.org/abs/2203.16634. */
export const nope = defineEncoding({
  contract: 1,
  type: 'nope',
  reference:
    'Kazemnejad et al., The Impact of Positional Encoding on Length Generalization in Transformers, 2023, https://arxiv.org/abs/2305.19466',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale',
  config,
  notes: [
    'A bidirectional stack is allowed and is permutation-equivariant: use it there as a control, not as a model of order.',
    'Llama 4 and SmolLM3 leave every fourth layer without positions: say that with perLayer, of [rope, nope], pattern [0, 0, 0, 1].',
  ],
  create: () =>
    encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: false,
        readsSeqLen: false,
      },
      params: {},
      hooks: () => () => ({}),
    }),
});
