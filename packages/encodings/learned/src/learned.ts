/**
 * Learned absolute positions: one trained vector per position, added to the embeddings once.
 *
 *     x_p ← x_p + E[p + offset],   E of numPositions + offset rows
 *
 * Undefined from position N = numPositions on, unless `extend` says what to read there, up to M = ⌊N · factor⌋ positions:
 *
 *     untrained    p < N: E[p + offset];   p ≥ N: a vector from N(0, initStd), the same whenever it is asked for
 *     interpolate  r = p · (N − 1)/(M − 1):   (1 − w) · E[⌊r⌋ + offset] + w · E[⌊r⌋ + 1 + offset],   w = r − ⌊r⌋
 *
 * Interpolation stretches the trained rows over M positions, first and last row meeting first and last position; factor 1 is
 * the identity. Neither changes the parameters, so both can be tried on weights trained without them.
 *
 * Variants: a product instead of the sum (`combine`), whose rows start around 1; for queries and keys alone, in every layer (`into`).
 */
import {
  absoluteHooks,
  absoluteOptions,
  absoluteWidth,
  defineEncoding,
  encoding,
  extent,
  normal,
  PosencError,
  stream,
  z,
} from '@posenc/core';
import type { Tensor3D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

const config = z
  .strictObject({
    numPositions: z
      .int()
      .min(1)
      .default(1024)
      .describe('Trained positions N, in tokens; sequences are at most this long unless extended.'),
    offset: z
      .int()
      .min(0)
      .default(0)
      .describe('Extra rows before that of position 0: 2 for OPT and BART, padding_idx + 1 for RoBERTa and fairseq.'),
    initStd: z
      .number()
      .min(0)
      .default(0.02)
      .describe('Standard deviation of the initial rows, in units of the embedding (GPT-2, BERT: 0.02).'),
    extend: z
      .enum(['none', 'untrained', 'interpolate'])
      .default('none')
      .describe('Beyond numPositions: undefined, rows that were never trained, or the trained rows stretched.'),
    factor: z
      .number()
      .min(1)
      .default(1)
      .describe('With extend: positions defined, as a multiple of numPositions (rounded down).'),
    ...absoluteOptions,
  })
  .refine(({ extend, factor }) => extend !== 'none' || factor === 1, {
    path: ['factor'],
    message: 'a factor above 1 does nothing while extend is "none": set extend to "untrained" or "interpolate"',
  });

/** The options, defaults filled in. */
export type LearnedConfig = z.infer<typeof config>;
type Extent = Pick<LearnedConfig, 'numPositions' | 'extend' | 'factor'>;

/** Positions defined, exclusive: N, or M = ⌊N · factor⌋ when extended. */
export function learnedMaxPosition({ numPositions, extend, factor }: Extent): number {
  const slack = 1e-9; // 100 · 1.15 is 114.99999999999999 in float64, and means 115
  return extend === 'none' ? numPositions : Math.floor(numPositions * factor + slack);
}

/** The trained rows (before `offset`) that position p blends under "interpolate": (1 − weight) · low + weight · high. */
export function interpolatedRow(
  position: number,
  numPositions: number,
  maxPosition: number,
): { low: number; high: number; weight: number } {
  const row = maxPosition > 1 ? (position * (numPositions - 1)) / (maxPosition - 1) : 0;
  const low = Math.floor(row);
  return { low, high: Math.min(low + 1, numPositions - 1), weight: row - low };
}

/** The vector "untrained" reads at a position: N(mean, std) from a stream of its own, so it depends on nothing else. */
export function untrainedRow(position: number, dim: number, std: number, mean = 0): Float64Array {
  const random = stream(0, `learned/untrained/${position}`);
  return Float64Array.from({ length: dim }, () => mean + std * normal(random));
}

/** Gehring et al. 2017, https://arxiv.org/abs/1705.03122; as in GPT-2, BERT, OPT. */
export const learned = defineEncoding({
  contract: 1,
  type: 'learned',
  reference:
    'Gehring et al., Convolutional Sequence to Sequence Learning, 2017, section 3.1, https://arxiv.org/abs/1705.03122 (as in GPT-2, BERT and OPT)',
  equation: 'x_p ← x_p + E[p + offset]',
  config,
  notes: [
    'numPositions larger than the training length leaves rows that no gradient ever reaches: evaluating there reads initial noise. Set it to the training length to have that reported as undefined.',
    'OPT and BART put position 0 in row 2, RoBERTa and fairseq in row padding_idx + 1; numPositions counts usable positions, so their checkpoints have numPositions + offset rows.',
    'initStd 0.02 is GPT-2’s and BERT’s; fairseq draws with D^(−1/2).',
    'DETR’s decoder adds its learned vectors to queries and keys in every layer, not to values (into "queriesAndKeys"); the table then has the width of the model.',
    'With combine "multiply" rows start at N(1, initStd): at 0 they would wipe out the embedding.',
    'Interpolation is linear with the end rows kept (align_corners); ViT code mostly resizes bicubically between half-pixel centres.',
  ],
  create: (config, dims) => {
    const { numPositions, offset, initStd, extend, combine } = config;
    const dim = absoluteWidth(config, dims);
    const mean = combine === 'add' ? 0 : 1; // around a vector that changes nothing
    const init = { kind: 'normal', std: initStd, ...(mean !== 0 && { mean }) } as const;
    const maxPosition = learnedMaxPosition(config);
    return encoding({
      traits: {
        maxPosition,
        shiftInvariant: false,
        requiresCausal: false,
        readsPositions: true,
        readsSeqLen: false,
      },
      params: { table: { shape: [numPositions + offset, dim], init } },
      hooks:
        ({ table }) =>
        ({ query }) => {
          const { rows, cols, data } = query;
          const [min, max] = extent(query);
          if (min < 0 || max >= maxPosition) throw undefinedPosition(min < 0 ? min : max, config);

          const read = (rowOf: (position: number) => number) => {
            const indices = Int32Array.from(data, (p) => rowOf(p) + offset);
            return tf.gather(table, tf.tensor2d(indices, [rows, cols], 'int32')) as Tensor3D; // [B|1, T, D]
          };
          const perToken = (f: (position: number) => number) =>
            tf.tensor3d(Float32Array.from(data, f), [rows, cols, 1]);

          const vectors = {
            none: () => read((p) => p),
            untrained: () => {
              const trained = perToken((p) => (p < numPositions ? 1 : 0));
              const fresh = new Float32Array(rows * cols * dim);
              data.forEach((p, t) => {
                if (p >= numPositions) fresh.set(untrainedRow(p, dim, initStd, mean), t * dim);
              });
              const known = read((p) => Math.min(p, numPositions - 1));
              return tf.add<Tensor3D>(known.mul(trained), tf.tensor3d(fresh, [rows, cols, dim]));
            },
            interpolate: () => {
              const at = (p: number) => interpolatedRow(p, numPositions, maxPosition);
              const low = read((p) => at(p).low);
              const step = read((p) => at(p).high).sub(low);
              return tf.add<Tensor3D>(step.mul(perToken((p) => at(p).weight)), low); // exactly E[low] where the weight is 0
            },
          };
          return absoluteHooks(vectors[extend], config);
        },
    });
  },
});

function undefinedPosition(position: number, config: LearnedConfig): PosencError {
  return new PosencError(
    `learned: position ${position} is undefined; numPositions ${config.numPositions}, extend "${config.extend}" and factor ` +
      `${config.factor} define 0 … ${learnedMaxPosition(config) - 1}. Shorten the sequence, train with more numPositions, or ` +
      `set extend to "untrained" or "interpolate" with a larger factor`,
  );
}
