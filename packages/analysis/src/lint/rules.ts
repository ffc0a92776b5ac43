/** Rules for Hugging Face configs. Each names the bug it prevents, as it happened in public. */
import { suggest } from '@posenc/core';
import { error, note, type Rule, warning } from './finding.ts';
import { isDict, numberAt, type RopeDict, type Subject } from './subject.ts';

/** rope_type → what it cannot do without. */
const known: Readonly<Record<string, readonly string[]>> = {
  default: [],
  linear: ['factor'],
  dynamic: ['factor'],
  yarn: ['factor', 'original_max_position_embeddings'],
  llama3: ['factor', 'original_max_position_embeddings', 'low_freq_factor', 'high_freq_factor'],
  longrope: ['short_factor', 'long_factor'],
  proportional: [],
};
const ofType = (subject: Subject, ...types: readonly string[]) =>
  subject.ropes.filter((rope) => types.includes(rope.type));

/** A rule that looks at one dict of RoPE parameters at a time. */
const perDict = (
  name: string,
  prevents: string,
  check: (rope: RopeDict, subject: Subject) => ReturnType<Rule<Subject>['check']>,
): Rule<Subject> => ({
  name,
  prevents,
  check: (subject) => subject.ropes.flatMap((rope) => check(rope, subject)),
});

export const rules: readonly Rule<Subject>[] = [
  perDict(
    'unknown-rope-type',
    'a scaling that is silently not applied (transformers reads the key, other programs skip it)',
    ({ path, type }) =>
      type in known || type === 'su' || type === 'mrope'
        ? []
        : [error(`${path}.rope_type`, `"${type}" is no rope_type: ${suggest(type, Object.keys(known))}`)],
  ),
  perDict(
    'type-spelling',
    'rope_type under the older key "type" read by some programs only (mlx-lm#1076, transformers.js)',
    ({ path, value }) => {
      const { type, rope_type } = value;
      if (type !== undefined && rope_type !== undefined && type !== rope_type)
        return [
          error(
            `${path}.type`,
            `"type" says ${JSON.stringify(type)} and "rope_type" ${JSON.stringify(rope_type)}: remove one`,
          ),
        ];
      return type !== undefined && rope_type === undefined
        ? [note(`${path}.type`, 'this is the older spelling of "rope_type"; newer programs may look for that alone')]
        : [];
    },
  ),
  {
    name: 'two-spellings',
    prevents: 'rope_scaling and rope_parameters that contradict one another (transformers 4 reads one, 5 the other)',
    check({ config }) {
      const [a, b] = [config.rope_scaling, config.rope_parameters];
      if (!isDict(a) || !isDict(b)) return [];
      const differ = Object.keys(a).filter((key) => key in b && JSON.stringify(a[key]) !== JSON.stringify(b[key]));
      return differ.map((key) =>
        error(`rope_scaling.${key}`, `${JSON.stringify(a[key])} here, ${JSON.stringify(b[key])} in rope_parameters`),
      );
    },
  },
  perDict(
    'base-conflict',
    'a base that is lost or taken from the wrong place (litgpt#2218)',
    ({ path, value, nested }, { config }) => {
      const outer = numberAt(config, 'rope_theta', 'rotary_emb_base');
      const inner = numberAt(value, 'rope_theta');
      return !nested && outer !== undefined && inner !== undefined && outer !== inner
        ? [error(`${path}.rope_theta`, `${inner} here and ${outer} beside it`)]
        : [];
    },
  ),
  perDict(
    'missing-keys',
    'a KeyError or a silent default when the model is loaded',
    ({ path, value, type }, { config }) =>
      (known[type] ?? [])
        .filter((key) => value[key] === undefined || value[key] === null)
        .filter((key) => !(key === 'original_max_position_embeddings' && numberAt(config, key) !== undefined))
        .map((key) => {
          const implied = key === 'original_max_position_embeddings' || (key === 'factor' && type === 'yarn');
          const message = `rope_type "${type}" needs it${implied ? '; programs differ in what they take instead' : ''}`;
          return implied ? warning(`${path}.${key}`, message) : error(`${path}.${key}`, message);
        }),
  ),
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
  {
    name: 'rotary-width',
    prevents:
      'a partial rotation lost on the way (transformers#44985, #48652): the whole head turned, or other channels',
    check({ config, headDim, rotaryWidth }) {
      const said = [
        ['rotary_dim', numberAt(config, 'rotary_dim')],
        [
          'rotary_pct',
          headDim && numberAt(config, 'rotary_pct') !== undefined
            ? Math.floor(headDim * numberAt(config, 'rotary_pct')!)
            : undefined,
        ],
        [
          'partial_rotary_factor',
          headDim && numberAt(config, 'partial_rotary_factor') !== undefined
            ? Math.floor(headDim * numberAt(config, 'partial_rotary_factor')!)
            : undefined,
        ],
      ].filter((entry): entry is [string, number] => typeof entry[1] === 'number');
      const differ = said.filter(([, width]) => width !== said[0]![1]);
      const odd = rotaryWidth !== undefined && rotaryWidth % 2 === 1 && said.length > 0;
      return [
        ...differ.map(([key, width]) =>
          error(key, `turns ${width} channels of a head, but ${said[0]![0]} says ${said[0]![1]}`),
        ),
        ...(odd
          ? [
              error(
                said[0]![0],
                `${rotaryWidth} channels cannot be paired: transformers turns one more and spaces the frequencies by the odd number (transformers#35219)`,
              ),
            ]
          : []),
      ];
    },
  },
  {
    name: 'head-dim',
    prevents: 'frequencies for heads of another width (transformers#32495, #40819)',
    check({ config, ropes }) {
      const hidden = numberAt(config, 'hidden_size', 'n_embd', 'd_model');
      const heads = numberAt(config, 'num_attention_heads', 'n_head', 'n_heads');
      if (config.head_dim === null && ropes.some(({ type }) => ['yarn', 'dynamic', 'longrope'].includes(type)))
        return [error('head_dim', 'null makes transformers 5 fail with this rope_type: leave the key out')];
      const explicit = numberAt(config, 'head_dim');
      if (hidden === undefined || !heads) return [];
      if (explicit === undefined && hidden % heads)
        return [
          error('num_attention_heads', `${hidden} channels cannot be divided among ${heads} heads: set head_dim`),
        ];
      return explicit !== undefined && explicit !== hidden / heads
        ? [
            note(
              'head_dim',
              `${explicit}, where hidden size / heads is ${hidden / heads}: programs that compute it themselves get other frequencies`,
            ),
          ]
        : [];
    },
  },
  perDict('multi-axis', 'positions of images and video read as plain ones', ({ path, value, type }) =>
    'mrope_section' in value || type === 'mrope'
      ? [warning(path, 'positions have several axes here (M-RoPE): a program with one axis reads text only')]
      : [],
  ),
  {
    name: 'wavelengths',
    prevents:
      'surprise beyond the trained length: pairs that never completed a turn meet angles never seen (2309.00071, 2310.05209)',
    check: ({ ropes, config, maxPosition, rotaryWidth }) => {
      const plain = ropes.length
        ? ropes.filter(({ type }) => type === 'default')
        : [{ path: 'rope_theta', base: numberAt(config, 'rope_theta', 'rotary_emb_base') }];
      return plain.flatMap(({ path, base }) => {
        if (base === undefined || maxPosition === undefined || rotaryWidth === undefined) return [];
        const pairs = Math.floor(rotaryWidth / 2);
        const whole = Array.from({ length: pairs }, (_, k) => 2 * Math.PI * base ** ((2 * k) / rotaryWidth)).filter(
          (wavelength) => wavelength <= maxPosition,
        ).length;
        return [
          note(
            path,
            `${whole} of ${pairs} pairs complete a turn within ${maxPosition} positions; the other ${pairs - whole} meet new angles beyond it`,
          ),
        ];
      });
    },
  },
  {
    name: 'alibi-heads',
    prevents: 'plain geometric slopes where the authors interpolate (transformers#28380, mlx#3071)',
    check({ config }) {
      const attention = isDict(config.attn_config) ? config.attn_config : {};
      const heads = numberAt(config, 'num_attention_heads', 'n_head', 'n_heads');
      const used =
        config.alibi === true ||
        attention.alibi === true ||
        config.model_type === 'bloom' ||
        config.position_embedding_type === 'alibi';
      return used && heads && Math.log2(heads) % 1 !== 0
        ? [
            note(
              'num_attention_heads',
              `${heads} heads are no power of two: slopes are those of ${2 ** Math.floor(Math.log2(heads))} heads, then every other one of twice as many; 2^(−8h/${heads}) is another model`,
            ),
          ]
        : [];
    },
  },
];
