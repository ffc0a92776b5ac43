/**
 * Sandwich: what two sinusoidal encodings say about each other, without the encodings. Their inner product depends on the distance
 * alone, is highest at 0 and falls on average; each head subtracts it from the same height, compressed by a ratio of its own.
 *
 *     s_ij = scoreScale · ⟨q_i, k_j⟩ + (Σ_k cos(ω_k · (j − i)) − n) / r_h,   n = dim/2 frequencies,  r_h = 8h/H,  h = 1 … H
 *
 *     paper   ω_k = base^(−2k/dim), k = 0 … n − 1
 *     nemo    ω_k = base^(−2k/dim), k = 1 … n             (the fastest cosine left out, a slower one added)
 */
import { defineEncoding, encoding, PosencError, z } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';

const config = z.strictObject({
  dim: z
    .int()
    .min(2)
    .multipleOf(2)
    .default(128)
    .describe('Width of the sinusoidal encodings compared, in channels (the paper’s d-bar); even.'),
  base: z.number().gt(1).default(10000).describe('Ratio of the longest to the shortest wavelength (no unit); above 1.'),
  spacing: z
    .enum(['paper', 'nemo'])
    .default('paper')
    .describe('Exponents 2k/dim from k = 0, or from k = 1 as in NVIDIA NeMo.'),
});

/** The options, defaults filled in. */
export type SandwichConfig = z.infer<typeof config>;

/** Angular frequencies ω_k in radians per token, highest first, float64. Throws PosencError when `dim` is not even and at least 2. */
export function sandwichFrequencies({
  dim = 128,
  base = 10000,
  spacing = 'paper',
}: Partial<SandwichConfig> = {}): Float64Array {
  if (!Number.isInteger(dim / 2) || dim < 2)
    throw new PosencError(`sandwich: dim is ${dim}; sines and cosines come in pairs, so it must be an even number`);
  const first = spacing === 'paper' ? 0 : 1;
  return Float64Array.from({ length: dim / 2 }, (_, k) => base ** ((-2 * (k + first)) / dim));
}

/** The compression ratio r_h = 8h/H of every head, float64. */
export const sandwichRatios = (numHeads: number): Float64Array =>
  Float64Array.from({ length: numHeads }, (_, h) => (8 * (h + 1)) / numHeads);

/**
 * The bias of every head at every offset (key − query, in tokens), row-major [numHeads, offsets], float64: 0 at offset 0, negative
 * elsewhere. `constant: false` leaves out −n, as the paper does: then offset 0 has n / r_h, and softmax gives the same.
 */
export function sandwichBias(
  numHeads: number,
  offsets: ArrayLike<number>,
  { constant = true, ...options }: Partial<SandwichConfig> & { readonly constant?: boolean } = {},
): Float64Array {
  const frequencies = sandwichFrequencies(options);
  const ratios = sandwichRatios(numHeads);
  const height = constant ? frequencies.length : 0;
  const sums = Float64Array.from(offsets, (offset) =>
    frequencies.reduce((sum, omega) => sum + Math.cos(omega * offset), -height),
  );
  const n = sums.length;
  return Float64Array.from({ length: numHeads * n }, (_, i) => sums[i % n]! / ratios[Math.floor(i / n)]!);
}

/** Chi, Fan, Rudnicky & Ramadge 2023, https://arxiv.org/abs/2212.10356. */
export const sandwich = defineEncoding({
  contract: 1,
  type: 'sandwich',
  reference:
    'Chi, Fan, Rudnicky & Ramadge, Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis, 2023, https://arxiv.org/abs/2212.10356',
  equation: 's_ij = ⟨q_i, k_j⟩ · scoreScale + (Σ_k cos(ω_k · (j − i)) − dim/2) · H/(8h),  ω_k = base^(−2k/dim)',
  config,
  notes: [
    'The paper has no −dim/2. It moves a whole row by the same amount, which softmax cancels; here it makes the bias 0 at distance 0, so that float32 loses nothing of it.',
    'NVIDIA NeMo sums k = 1 … dim/2 (spacing "nemo"): at distance 1 the first of 12 heads loses 2.17, not 2.86.',
    'The bias falls with distance on average only: cosines make it go up and down. It is the same in both directions, so that bidirectional stacks work.',
  ],
  create: (config, { numHeads }) => {
    sandwichFrequencies(config); // refuses an impossible width before any model is built
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: true,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: {},
      hooks: () => () => {
        const biases = once((offsets) => Float32Array.from(sandwichBias(numHeads, offsets, config)));
        return {
          layer: () => ({ relativeBias: (offsets) => tf.tensor2d(biases(offsets), [numHeads, offsets.length]) }),
        };
      },
    });
  },
  tables: (config, { numHeads }) => {
    const frequencies = sandwichFrequencies(config);
    return [
      {
        name: 'angular frequency',
        quantity: 'frequency',
        axes: ['pair'],
        shape: [frequencies.length],
        data: frequencies,
      },
      {
        name: 'compression ratio',
        quantity: 'value',
        axes: ['head'],
        shape: [numHeads],
        data: sandwichRatios(numHeads),
      },
    ];
  },
});

/** Keeps the last result: all layers of a forward ask for the same offsets. */
function once(compute: (offsets: Int32Array) => Float32Array): (offsets: Int32Array) => Float32Array {
  let last: { offsets: Int32Array; biases: Float32Array } | undefined;
  return (offsets) => {
    if (last?.offsets !== offsets) last = { offsets, biases: compute(offsets) };
    return last.biases;
  };
}
