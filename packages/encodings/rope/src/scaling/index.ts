/** The scalings RoPE knows. A new one is one file here and one line below. */
import { unscaled } from './default.ts';
import { dynamic } from './dynamic.ts';
import { linear } from './linear.ts';
import { ntk } from './ntk.ts';

export const scalings = [unscaled, linear, ntk, dynamic] as const;
