/** Rules about the numbers of a RoPE scaling. */
import { error, note, type Rule, warning } from './finding.ts';
import { ofType, perDict } from './per-dict.ts';
import { numberAt, type Subject } from './subject.ts';

export const scalingRules: readonly Rule<Subject>[] = [
  perDict('factor-below-one', 'a context that shrinks: transformers warns and goes on', ({ path, value }) => {
    const factor = numberAt(value, 'factor');
    return factor !== undefined && !(factor >= 1)
      ? [error(`${path}.factor`, `${factor} is below 1: a factor says how many times longer the context becomes`)]
      : [];
  }),
  perDict(
    'attn-factor',
    'a temperature that is ignored (deepseek-ai/DeepSeek-R1#684: "attn_factor" was read by nobody)',
    ({ path, value }) =>
      'attn_factor' in value
        ? [
            warning(
              `${path}.attn_factor`,
              'transformers reads "attention_factor", and takes it as the factor itself, not as a multiplier of the default',
            ),
          ]
        : [],
  ),
  perDict(
    'attention-factor',
    'a validation that rejects the model (transformers wants a positive float)',
    ({ path, value }) => {
      const factor = value.attention_factor;
      const fine = factor === undefined || factor === null || (typeof factor === 'number' && factor > 0);
      return fine
        ? []
        : [error(`${path}.attention_factor`, `${JSON.stringify(factor)} must be a positive number, or absent`)];
    },
  ),
  {
    name: 'original-length',
    prevents: 'a stretched length taken for the trained one (torchtitan#2849)',
    check: ({ config, maxPosition, ...rest }) =>
      ofType({ config, maxPosition, ...rest }, 'yarn', 'llama3', 'longrope').flatMap(({ path, value }) => {
        const original =
          numberAt(value, 'original_max_position_embeddings') ?? numberAt(config, 'original_max_position_embeddings');
        const factor = numberAt(value, 'factor');
        if (original === undefined || maxPosition === undefined) return [];
        const at = `${path}.original_max_position_embeddings`;
        if (original > maxPosition)
          return [
            error(
              at,
              `${original} is above max_position_embeddings ${maxPosition}: the trained length cannot exceed the stretched one`,
            ),
          ];
        if (original === maxPosition)
          return [
            warning(at, `equals max_position_embeddings ${maxPosition}: nothing is stretched, or one of them is wrong`),
          ];
        return factor !== undefined && Math.abs(original * factor - maxPosition) > 0.02 * maxPosition
          ? [
              note(
                at,
                `${original} × factor ${factor} = ${original * factor}, but max_position_embeddings is ${maxPosition} (transformers#40320)`,
              ),
            ]
          : [];
      }),
  },
  {
    name: 'yarn-range',
    prevents: 'a ramp without width: no frequency is scaled, and yet attention_factor applies',
    check: (subject) =>
      ofType(subject, 'yarn').flatMap(({ path, value, base = 10000 }) => {
        const original = numberAt(value, 'original_max_position_embeddings') ?? subject.maxPosition;
        const [fast, slow] = [numberAt(value, 'beta_fast') ?? 32, numberAt(value, 'beta_slow') ?? 1];
        if (fast <= slow) return [error(`${path}.beta_fast`, `beta_fast ${fast} must be above beta_slow ${slow}`)];
        if (original === undefined || subject.rotaryWidth === undefined) return [];
        const pair = (turns: number) =>
          (subject.rotaryWidth! * Math.log(original / (2 * Math.PI * turns))) / (2 * Math.log(base));
        const [low, high] = [
          Math.max(Math.floor(pair(fast)), 0),
          Math.min(Math.ceil(pair(slow)), subject.rotaryWidth - 1),
        ];
        return low >= high
          ? [
              warning(
                `${path}.beta_slow`,
                `the ramp runs from pair ${low} to ${high}: with these sizes YaRN scales nothing or everything`,
              ),
            ]
          : [];
      }),
  },
  perDict(
    'mscale-alone',
    'half of a temperature (exllamav3#259, transformers#47435): one of the two has no effect without the other',
    ({ path, value }) => {
      const [one, all] = [numberAt(value, 'mscale'), numberAt(value, 'mscale_all_dim')];
      return (one ? 1 : 0) + (all ? 1 : 0) === 1
        ? [
            warning(
              `${path}.${one ? 'mscale' : 'mscale_all_dim'}`,
              'without its partner the default 0.1·ln(factor) + 1 is used instead',
            ),
          ]
        : [];
    },
  ),
  perDict(
    'nested-truncate',
    'transformers 5 ignores "truncate" inside a layer type’s parameters: frequencies off by up to 0.57×',
    ({ path, value, nested }) =>
      nested && 'truncate' in value
        ? [
            warning(
              `${path}.truncate`,
              'transformers reads it from the outer dict only, so this value has no effect there',
            ),
          ]
        : [],
  ),
  {
    name: 'dynamic-cache',
    prevents: 'keys of several bases in one cache (transformers#25104)',
    check: (subject) =>
      ofType(subject, 'dynamic').map(({ path }) =>
        note(
          path,
          'the base follows the length: keys cached turned at one length are wrong at the next. Fix the length for a decoding session, or re-read',
        ),
      ),
  },
  {
    name: 'longrope-lists',
    prevents: 'factors of the wrong pair, or a crash (vllm#27431)',
    check: (subject) =>
      ofType(subject, 'longrope', 'su').flatMap(({ path, value }) =>
        ['short_factor', 'long_factor'].flatMap((key) => {
          const list = value[key];
          if (!Array.isArray(list) || subject.rotaryWidth === undefined) return [];
          const wanted = subject.rotaryWidth / 2;
          return list.length === wanted ? [] : [error(`${path}.${key}`, `${list.length} factors for ${wanted} pairs`)];
        }),
      ),
  },
  perDict(
    'llama3-bands',
    'bands in the wrong order: a division by zero or inverted blending',
    ({ path, value, type }) => {
      const [low, high] = [numberAt(value, 'low_freq_factor'), numberAt(value, 'high_freq_factor')];
      return type === 'llama3' && low !== undefined && high !== undefined && low >= high
        ? [error(`${path}.low_freq_factor`, `${low} must be below high_freq_factor ${high}`)]
        : [];
    },
  ),
];
