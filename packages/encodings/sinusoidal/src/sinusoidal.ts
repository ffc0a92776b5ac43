/**
 * Sinusoidal absolute positions: fixed sines and cosines of geometrically spaced frequencies, added to the embeddings once.
 *
 *     x_p ← x_p + scale · PE[p + offset]
 *     ω_k = base^(−2k/D), k < ⌈D/2⌉   (paper)        ω_k = base^(−k/(n − 1)), k < n = ⌊D/2⌋   (tensor2tensor)
 *     interleaved   PE[p] = [sin ω_0 p, cos ω_0 p, sin ω_1 p, cos ω_1 p, …]
 *     concatenated  PE[p] = [sin ω_0 p, sin ω_1 p, …, cos ω_0 p, cos ω_1 p, …]
 *
 * Odd widths follow the spacing: paper has one sine more than cosines; tensor2tensor leaves the last channel zero.
 * The two spacings are not permutations of each other: the longest wavelength is 2π·base^((D−2)/D) or 2π·base.
 *
 * Variants: a product instead of the sum (`combine`); for queries and keys alone, in every layer (`into`); a trained scale.
 */
import {
  absoluteHooks,
  absoluteOptions,
  absoluteWidth,
  defineEncoding,
  encoding,
  keepLast,
  type ParamSpecs,
  PosencError,
  z,
} from '@posenc/core';
import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const config = z.strictObject({
  base: z.number().gt(1).default(10000).describe('Ratio of the longest to the shortest wavelength (no unit); above 1.'),
  layout: z
    .enum(['interleaved', 'concatenated'])
    .default('interleaved')
    .describe('Channel order: sine and cosine of a pair adjacent, or all sines before all cosines.'),
  spacing: z
    .enum(['paper', 'tensor2tensor'])
    .default('paper')
    .describe('Exponent of frequency k: 2k/D (odd D: one more sine) or k/(⌊D/2⌋ − 1) (odd D: last channel zero).'),
  offset: z
    .int()
    .default(0)
    .describe('Added to every position, in tokens: padding_idx + 1 for fairseq, 1 for CTranslate2 and OpenNMT-tf.'),
  scale: z
    .union([z.number().positive(), z.literal('rsqrtDim')])
    .default(1)
    .describe('Factor on the table; "rsqrtDim": 1/√D.'),
  learnable: z.boolean().default(false).describe('Train that factor, starting there.'),
  ...absoluteOptions,
});

/** The options, defaults filled in. */
export type SinusoidalConfig = z.infer<typeof config>;

/**
 * Angular frequencies ω_k in radians per position, highest first, float64: ⌈D/2⌉ (paper) or ⌊D/2⌋ (tensor2tensor) of them.
 * Throws PosencError when `dim` is too small to hold one.
 */
export function sinusoidalFrequencies(
  dim: number,
  { base = 10000, spacing = 'paper' }: Partial<SinusoidalConfig> = {},
): Float64Array {
  const least = spacing === 'paper' ? 1 : 2;
  if (!Number.isInteger(dim) || dim < least)
    throw new PosencError(
      `sinusoidal: a width of ${dim} holds no position; with spacing "${spacing}" it must be an integer of at least ${least}`,
    );
  const pairs = spacing === 'paper' ? Math.ceil(dim / 2) : Math.floor(dim / 2);
  const steps = spacing === 'paper' ? dim / 2 : Math.max(pairs - 1, 1);
  return Float64Array.from({ length: pairs }, (_, k) => base ** (-k / steps));
}

/** PE of each position (any integers), row-major [positions, dim], float64. Throws as `sinusoidalFrequencies` does. */
export function sinusoidalTable(
  positions: ArrayLike<number>,
  dim: number,
  options: Partial<SinusoidalConfig> = {},
): Float64Array {
  const { layout = 'interleaved', offset = 0 } = options;
  const frequencies = sinusoidalFrequencies(dim, options);
  const table = new Float64Array(positions.length * dim);
  for (let t = 0; t < positions.length; t++)
    frequencies.forEach((omega, k) => {
      const angle = omega * (positions[t]! + offset);
      const [sine, cosine] = layout === 'interleaved' ? [2 * k, 2 * k + 1] : [k, frequencies.length + k];
      table[t * dim + sine] = Math.sin(angle);
      if (cosine < dim) table[t * dim + cosine] = Math.cos(angle);
    });
  return table;
}

/** Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, section 3.5. */
export const sinusoidal = defineEncoding({
  contract: 1,
  type: 'sinusoidal',
  reference: 'Vaswani et al., Attention Is All You Need, 2017, section 3.5, https://arxiv.org/abs/1706.03762',
  equation: 'x_p ← x_p + PE[p + offset];  PE[p, 2k] = sin(p / base^(2k/D)),  PE[p, 2k+1] = cos(p / base^(2k/D))',
  config,
  notes: [
    'The defaults are the paper’s. The authors’ code (tensor2tensor), and fairseq after it, is layout "concatenated" with spacing "tensor2tensor": other channel order and other frequencies.',
    'Marian, Pegasus, RoFormer and Transformer-XL are layout "concatenated" with spacing "paper".',
    'A row has norm √(D/2) whatever the token embeddings are: the paper multiplies those by √D (the model’s embeddingScale); embeddings drawn from N(0, 0.02) and not multiplied drown in it.',
    'x-transformers’ scaled sinusoid is layout "concatenated" with scale "rsqrtDim", learnable. The factor may train to 0 or below: it is not bounded.',
    'Shortformer adds its sinusoid to queries and keys in every layer (into "queriesAndKeys", fairseq’s layout): values stay free of position, so that they can be cached and seen from elsewhere.',
    'A product needs care: sines are 0 at position 0 and nearly so in slow channels, which are lost there.',
    'fairseq zeroes the row of padding tokens. Here padding is masked, so what its row holds is never read.',
  ],
  create: (config, dims) => {
    const dim = absoluteWidth(config, dims);
    sinusoidalFrequencies(dim, config); // refuses an impossible width before any model is built
    const factor = config.scale === 'rsqrtDim' ? dim ** -0.5 : config.scale;
    const constant = config.learnable ? 1 : factor;
    const tableOf = keepLast(({ data }) => Float32Array.from(sinusoidalTable(data, dim, config), (v) => constant * v));
    const learned: ParamSpecs = { scale: { shape: [1], init: { kind: 'constant', value: factor } } };
    return encoding({
      traits: {
        maxPosition: Number.POSITIVE_INFINITY,
        shiftInvariant: false,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: config.learnable ? learned : {},
      hooks:
        ({ scale }: Readonly<Record<string, Tensor>>) =>
        ({ query }) =>
          absoluteHooks(() => {
            const vectors = tf.tensor3d(tableOf(query), [query.rows, query.cols, dim]);
            return scale ? tf.mul(vectors, scale) : vectors;
          }, config),
    });
  },
  tables: (config, dims) => {
    const data = sinusoidalFrequencies(absoluteWidth(config, dims), config);
    return [{ name: 'angular frequency', quantity: 'frequency', axes: ['pair'], shape: [data.length], data }];
  },
});
