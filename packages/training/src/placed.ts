/** Where the tokens of a batch stand: counted, or drawn. */
import { PosencError, type Random, randomized } from '@posenc/core';
import type { Batch } from '@posenc/tasks';

/**
 * The batch as it is, or at positions drawn from 0 … randomizedPositions − 1 (one draw for all rows, as in Ruoss 2023). Throws
 * PosencError when there are fewer than it has tokens.
 */
export function placed(
  batch: Batch,
  { randomizedPositions: end }: { readonly randomizedPositions?: number | undefined },
  random: Random,
): Batch {
  if (end === undefined) return batch;
  const { cols } = batch.tokens;
  if (cols > end)
    throw new PosencError(
      `randomizedPositions is ${end}, but sequences are ${cols} tokens long: give at least one position for each`,
    );
  return { ...batch, positions: randomized(cols, end, random) };
}
