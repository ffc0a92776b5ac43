/** Rules about keys: written twice, in an older way, in the wrong place or not at all. */
import { suggest } from '@posenc/core';
import { error, note, type Rule, warning } from './finding.ts';
import { perDict } from './per-dict.ts';
import { isDict, numberAt, type Subject } from './subject.ts';

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
export const spellingRules: readonly Rule<Subject>[] = [
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
];
