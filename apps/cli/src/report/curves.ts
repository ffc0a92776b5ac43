/** Training curves, read from the trials' logs. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJsonLines } from '@posenc/checkpoints';
import type { PlannedTrial, StepMetrics } from '@posenc/training';

/** Loss by training step of one trial. */
export interface LossCurve {
  readonly name: string;
  readonly seed: number;
  /** null: what JSON makes of a loss that is no number; it interrupts the curve. */
  readonly points: readonly { readonly step: number; readonly loss: number | null }[];
}

/** A trial whose log is gone has no curve. */
export function lossCurves(trials: readonly PlannedTrial[]): LossCurve[] {
  return trials.flatMap(({ folder, spec }) => {
    const path = join(folder, 'metrics.jsonl');
    if (!existsSync(path)) return [];
    const points = (readJsonLines(path) as StepMetrics[]).map(({ step, loss }) => ({ step, loss }));
    return [{ name: spec.name, seed: spec.seed, points }];
  });
}

/** By trial id: its folder as seen from the run's. */
export const trialFolders = (run: string, trials: readonly PlannedTrial[]): Record<string, string> =>
  Object.fromEntries(trials.map(({ id, folder }) => [id, relative(run, folder)]));
