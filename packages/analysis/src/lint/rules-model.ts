/** Rules about a model’s sizes, which decide what its positions mean. */
import { error, note, type Rule, warning } from './finding.ts';
import { perDict } from './per-dict.ts';
import { isDict, numberAt, type Subject } from './subject.ts';

export const modelRules: readonly Rule<Subject>[] = [
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
