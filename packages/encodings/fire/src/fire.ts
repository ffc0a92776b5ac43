/**
 * FIRE, functional interpolation for relative positions: a small network reads how far back a key lies, as a share of how far back
 * it could lie. Longer sequences fill the same interval 0 … 1 that it was trained on.
 *
 *     s_ij = scoreScale · ⟨q_i, k_j⟩ + mlp(ψ(|i − j|) / (ψ(max(i, m·L)) + eps))_h          (added after the scale, never scaled itself)
 *     ψ(x) = ln(1 + c·x)          mlp(x) = W₂ · relu(w₁ · x + b₁)
 *
 * c and the factor m of the threshold L are learned, as their absolute values. In a bidirectional stack a key may lie ahead: the
 * normaliser is then the further of the two, max(i, j, m·L).
 */
import { at, defineEncoding, encoding, type Grid, layerOf, z } from '@posenc/core';
import type { Tensor, Tensor1D, Tensor2D, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { scalarMlp } from './scalar-mlp.ts';

const config = z.strictObject({
  hiddenDim: z.int().min(1).default(32).describe('Width of the network’s hidden layer.'),
  threshold: z
    .number()
    .positive()
    .default(512)
    .describe('L, in tokens: queries before it are read as if they stood there. It starts here and is learned as m·L.'),
  normalizer: z
    .enum(['further', 'query'])
    .default('further')
    .describe(
      'What a distance is a share of in a bidirectional stack: the further of the two positions, or the query’s.',
    ),
  perLayer: z
    .boolean()
    .default(true)
    .describe('Parameters of their own for every layer; false: one set for all (FIRE-S).'),
  eps: z.number().positive().default(1e-6).describe('Added to the normaliser.'),
});

/** The options, defaults filled in. */
export type FireConfig = z.infer<typeof config>;

/**
 * What the network reads: a distance (tokens) as a share of how far back a key could lie from `position`, float64.
 * `threshold` is m·L, in tokens; `c` and it count as absolute values.
 */
export function fireShare(
  distance: number,
  position: number,
  { c = 0.1, threshold = 512, eps = 1e-6 }: { c?: number; threshold?: number; eps?: number } = {},
): number {
  const psi = (x: number) => Math.log1p(Math.abs(c * x));
  return psi(distance) / (psi(Math.max(position, Math.abs(threshold))) + eps);
}

/** Li et al. 2024, https://arxiv.org/abs/2310.04418. */
export const fire = defineEncoding({
  contract: 1,
  type: 'fire',
  reference:
    'Li et al., Functional Interpolation for Relative Positions Improves Long Context Transformers, 2024, https://arxiv.org/abs/2310.04418',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale + mlp(ψ(|i − j|) / (ψ(max(i, m·L)) + eps))_h,  ψ(x) = ln(1 + c·x)',
  config,
  notes: [
    'The normaliser is the query’s absolute position, so that a shift of all positions changes the scores, and a cache or padding must not change positions.',
    'The paper is about causal models. In a bidirectional stack the normaliser is max(i, j, m·L), which keeps shares within 0 … 1; normalizer "query" is what the code by McLeish et al. computes there.',
    'Without the threshold the first query would divide by ψ(0) = 0. The published code learns a factor m of L; m·L and c count as absolute values.',
    'The network’s last layer has no bias: it would add one number to a whole row, which softmax cancels. Leave it out when loading a checkpoint.',
    'The network starts as torch.nn.Linear does, c at 0.1, m at 1.',
    'McLeish et al. also draw random positions for training inside the module; here positions are given to the model.',
  ],
  create: ({ hiddenDim, threshold, normalizer, perLayer, eps }, { numLayers, numHeads, causal }) => {
    const layers = perLayer ? numLayers : 1;
    const uniform = (bound: number) => ({ kind: 'uniform', low: -bound, high: bound }) as const;
    const constant = (value: number) => ({ kind: 'constant', value }) as const;
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: false,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: {
        c: { shape: [layers, 1], init: constant(0.1) },
        thresholdFactor: { shape: [layers, 1], init: constant(1) },
        hiddenWeight: { shape: [layers, hiddenDim], init: uniform(1) }, // 1/√(one input)
        hiddenBias: { shape: [layers, hiddenDim], init: uniform(1) },
        outputWeight: { shape: [layers, hiddenDim, numHeads], init: uniform(hiddenDim ** -0.5) },
      },
      hooks:
        ({ c, thresholdFactor, hiddenWeight, hiddenBias, outputWeight }) =>
        ({ query, key }) => {
          const distances = pairwise(query, key, (i, j) => Math.abs(i - j)); // [B|1, Tq, Tk]
          // Under a causal mask the query is the further one wherever it can see.
          const reach =
            causal || normalizer === 'query'
              ? tf.tensor3d(Float32Array.from(query.data), [query.rows, query.cols, 1])
              : pairwise(query, key, Math.max);
          const bias = (index: number): Tensor4D =>
            tf.tidy(() => {
              const psi = (x: Tensor) => tf.log1p(tf.mul(x, tf.abs(layerOf<Tensor1D>(c, index))));
              const least = tf.mul(tf.abs(layerOf<Tensor1D>(thresholdFactor, index)), threshold);
              const atLeast = tf.add(reach, tf.relu(tf.sub(least, reach))); // tf.maximum’s gradient does not sum over broadcasts
              const shares = tf.div(psi(distances), tf.add(psi(atLeast), eps));
              const numbers = scalarMlp(
                shares.reshape<Tensor1D>([-1]),
                layerOf<Tensor1D>(hiddenWeight, index),
                layerOf<Tensor1D>(hiddenBias, index),
                layerOf<Tensor2D>(outputWeight, index),
              );
              return numbers.reshape<Tensor4D>([...distances.shape, numHeads]).transpose([0, 3, 1, 2]);
            });
          const shared = perLayer ? undefined : bias(0);
          return { layer: (index) => ({ bias: () => shared ?? bias(index) }) };
        },
    });
  },
});

/** A number for every pair of query and key, [B|1, Tq, Tk]. */
function pairwise(query: Grid, key: Grid, f: (i: number, j: number) => number): Tensor3D {
  const [rows, cols, keys] = [Math.max(query.rows, key.rows), query.cols, key.cols];
  const data = new Float32Array(rows * cols * keys);
  for (let b = 0, n = 0; b < rows; b++)
    for (let t = 0; t < cols; t++) for (let s = 0; s < keys; s++) data[n++] = f(at(query, b, t), at(key, b, s));
  return tf.tensor3d(data, [rows, cols, keys]);
}
