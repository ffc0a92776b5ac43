/** Learning rates by step. */

export interface ScheduleOptions {
  readonly learningRate: number;
  readonly steps: number;
  /** Share of the steps spent rising linearly from 0. */
  readonly warmup: number;
  /** The cosine ends at this share of the peak. */
  readonly finalFraction: number;
}

/** Linear warm-up, then a half cosine down to finalFraction · learningRate at the last step (steps count from 1). */
export function learningRateAt(step: number, options: ScheduleOptions): number {
  const { learningRate, steps, warmup, finalFraction } = options;
  const rising = Math.round(warmup * steps);
  if (step <= rising) return (learningRate * step) / rising;
  const progress = (step - rising) / Math.max(1, steps - rising);
  return learningRate * (finalFraction + (1 - finalFraction) * 0.5 * (1 + Math.cos(Math.PI * progress)));
}
