/** From how often a pair turns within the trained length to its place among the pairs, as "ntk-by-parts" and "yarn" need it. */
import { PosencError } from '@posenc/core';
import type { RopeContext } from './scaling.ts';

/** Whether the two bounds are rounded outwards to whole pairs. */
export interface RampOptions {
  readonly trained: number;
  readonly truncate: boolean;
}

/**
 * A function of the pair index k that rises from 0 to 1 between the pair that turns `fast` times within the trained length L0
 * and the one that turns `slow` times:
 *
 *     k(n) = r · ln(L0 / (2π n)) / (2 ln base),     ramp(k) = clip((k − k(fast)) / (k(slow) − k(fast)), 0, 1)
 *
 * It is linear in the index, as in all code; the YaRN paper writes it linear in the number of turns. Bounds are cut to
 * 0 … r − 1 one by one, so they may end up in the wrong order (a trained length of a few tokens): then, as in all code, the
 * formula is used as it stands. Throws PosencError at base 1, where all pairs turn alike.
 */
export function turnsRamp(
  fast: number,
  slow: number,
  { base, rotaryDim }: RopeContext,
  { trained, truncate }: RampOptions,
): (k: number) => number {
  if (base <= 1)
    throw new PosencError(
      `rope: this scaling treats fast and slow pairs differently, and at base ${base} all pairs turn alike: use a base above 1`,
    );
  const pairTurning = (turns: number) => (rotaryDim * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const [first, last] = [pairTurning(fast), pairTurning(slow)];
  const low = Math.max(truncate ? Math.floor(first) : first, 0);
  const high = Math.min(truncate ? Math.ceil(last) : last, rotaryDim - 1);
  const width = high === low ? 0.001 : high - low;
  return (k) => Math.min(Math.max((k - low) / width, 0), 1);
}
