/** Options and rules that several scalings share. */
import { PosencError, z } from '@posenc/core';

/** s, how many times longer than in training sequences may become. */
export const factor = z
  .number()
  .min(1, 'must be at least 1: it says how many times longer than in training sequences become')
  .describe('s: how many times longer than in training sequences become; at least 1 (no unit).');

export const originalMaxPositionEmbeddings = z
  .int()
  .min(1)
  .describe('L0: the sequence length the model was trained on, in tokens.');

/** How many times a pair turns within the trained length. */
export const turns = z.number().positive();

export const attentionFactor = z
  .number()
  .positive()
  .optional()
  .describe('Multiplies cos and sin, so scores by its square; instead of the one that follows from the other options.');

/**
 * base · stretch^(r/(r−2)): the base at which the slowest pair turns exactly `stretch` times slower and the fastest is
 * unchanged. Throws PosencError for r = 2, where the only pair is both.
 */
export function ntkBase(base: number, stretch: number, rotaryDim: number, type: string): number {
  if (rotaryDim < 4)
    throw new PosencError(
      `rope: scaling "${type}" needs a rotary width of at least 4, and it is ${rotaryDim}: the new base is ` +
        'base · s^(r/(r − 2)), a division by zero at r = 2. Use a wider head, more rotary channels, or scaling "linear"',
    );
  return base * stretch ** (rotaryDim / (rotaryDim - 2));
}
