/** How far apart two computations of the same thing may be. The one table: nothing in the project loosens it in passing. */
import { PosencError } from '@posenc/core';

/** How much of a deviation is rounding. */
export interface Tolerances {
  /** Largest absolute deviation of logits of size 1, by tfjs backend name. */
  readonly logits: Readonly<Record<string, number>>;
  /** Gradients against central directional differences, relative to the gradient's norm. */
  readonly gradient: number;
  /** Float64 tables against published numbers, relative (for those printed in full; others: to the printed digits). */
  readonly table: number;
}

/** The one table of the whole project. */
export const tolerances: Tolerances = {
  logits: { cpu: 2e-5, wasm: 1e-4, simd: 1e-4, tensorflow: 1e-4, 'tensorflow-gpu': 1e-3, webgpu: 1e-3 },
  gradient: 1e-2,
  table: 1e-12,
};

/** A change counts as one when it is this many tolerances large; anything smaller could be rounding. */
export const MOVED = 50;

/** Tolerance for logits on a backend. Throws PosencError for a backend the table does not list. */
export function toleranceOf(backend: string): number {
  const tolerance = tolerances.logits[backend];
  if (tolerance === undefined)
    throw new PosencError(
      `no tolerance is stated for backend "${backend}": laws run on ${Object.keys(tolerances.logits).join(', ')}; ` +
        'for another backend pass { tolerance } in the options',
    );
  return tolerance;
}
