/** Planted in how RoPE reads its options. */
import type { Mutant } from '../mutant.ts';
import { encoding } from './rope-source.ts';

export const ropeConfigMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'the scaling read and forgotten',
    seen: 'mlx-lm#1076, maxtext#4615, transformers#45887',
    edits: [{ file: 'scaling/linear.ts', find: 'theta / factor', replace: 'theta + 0 * factor' }],
    configs: [{}, { scaling: { type: 'linear', factor: 4 } }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'base read and forgotten',
    seen: 'litgpt#2218',
    edits: [{ file: 'frequencies.ts', find: 'base: config.base,', replace: 'base: 10000,' }],
    configs: [{}, { base: 500 }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'the partial factor ignored: all channels turn',
    seen: 'transformers#44985, #48652',
    edits: [
      {
        file: 'config.ts',
        find: 'const { partialRotaryFactor = 1, rotaryDim } = config;',
        replace: 'const [partialRotaryFactor, rotaryDim] = [1, config.rotaryDim];',
      },
    ],
    configs: [{}, { partialRotaryFactor: 0.5 }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'unknown keys accepted in silence',
    seen: 'DeepSeek-R1#684 (attn_factor, attention_factor)',
    edits: [{ file: 'config.ts', find: '.strictObject({', replace: '.object({' }],
    configs: [{}],
    caughtBy: 'config',
  },
  {
    encoding,
    bug: 'unknown keys accepted inside a nested object',
    seen: 'transformers#45887, #45289',
    edits: [{ file: 'scaling/linear.ts', find: 'z.strictObject({', replace: 'z.object({' }],
    configs: [{ scaling: { type: 'linear', factor: 4 } }],
    caughtBy: 'config',
  },
];
