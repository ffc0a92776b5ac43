import type { Mutant } from '../mutant.ts';
import { alibiMutants } from './alibi.ts';
import { learnedMutants } from './learned.ts';
import { nopeMutants } from './nope.ts';
import { ropeMutants } from './rope.ts';
import { sinusoidalMutants } from './sinusoidal.ts';
import { t5Mutants } from './t5.ts';

export const mutants: readonly Mutant[] = [
  ...sinusoidalMutants,
  ...learnedMutants,
  ...t5Mutants,
  ...alibiMutants,
  ...ropeMutants,
  ...nopeMutants,
];
