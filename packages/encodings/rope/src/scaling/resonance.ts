/**
 * Resonance RoPE: wavelengths, after any scaling, rounded to whole positions, so that a pair comes back to exactly the angles it
 * was trained on.
 *
 *     θ̃_k = 2π / round(2π / θ_k)
 *
 * Source: Wang et al. 2024, https://arxiv.org/abs/2403.00071.
 */
import { PosencError } from '@posenc/core';
import type { Frequencies } from './scaling.ts';

/** Pairs that do not turn stay still. Throws PosencError where a wavelength would round to 1 or less: no turn at all. */
export function roundWavelengths({ invFreq, attentionFactor }: Frequencies): Frequencies {
  const rounded = invFreq.map((theta, k) => {
    if (theta === 0) return 0;
    const wavelength = (2 * Math.PI) / theta;
    if (wavelength < 1.5)
      throw new PosencError(
        `rope: roundWavelengths cannot round the wavelength of pair ${k}, ${wavelength.toPrecision(3)} positions, to 2 or ` +
          'more whole ones: leave it off, or scale by factors that do not speed pairs up',
      );
    return (2 * Math.PI) / Math.round(wavelength);
  });
  return { invFreq: rounded, attentionFactor };
}
