/** The scalings RoPE knows. A new one is one file here and one line below. */
import { unscaled } from './default.ts';
import { dynamic } from './dynamic.ts';
import { linear } from './linear.ts';
import { llama3 } from './llama3.ts';
import { longrope } from './longrope.ts';
import { ntk } from './ntk.ts';
import { ntkByParts } from './ntk-by-parts.ts';
import { proportional } from './proportional.ts';
import { yarn } from './yarn.ts';

/** The scalings that RoPE brings, by `scaling.type`. */
export const scalings = [unscaled, linear, ntk, ntkByParts, dynamic, yarn, llama3, longrope, proportional] as const;
