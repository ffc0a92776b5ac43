import type { Mutant } from '../mutant.ts';
import { alibiMutants } from './alibi.ts';
import { attentionTemperatureMutants } from './attention-temperature.ts';
import { kerpleMutants } from './kerple.ts';
import { learnedMutants } from './learned.ts';
import { nopeMutants } from './nope.ts';
import { ropeConfigMutants } from './rope-config.ts';
import { ropePositionMutants } from './rope-positions.ts';
import { ropeRotationMutants } from './rope-rotation.ts';
import { sinusoidalMutants } from './sinusoidal.ts';
import { t5Mutants } from './t5.ts';

export const mutants: readonly Mutant[] = [
  ...sinusoidalMutants,
  ...learnedMutants,
  ...t5Mutants,
  ...alibiMutants,
  ...ropeRotationMutants,
  ...ropePositionMutants,
  ...ropeConfigMutants,
  ...kerpleMutants,
  ...attentionTemperatureMutants,
  ...nopeMutants,
];
