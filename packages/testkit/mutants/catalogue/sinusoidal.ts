import { bfloat16, type Mutant } from '../mutant.ts';

const file = 'sinusoidal.ts';
const encoding = 'sinusoidal';
const call = 'tableOf(query)';
const made = `tf.tensor3d(${call}, [query.rows, query.cols, dim])`;
/** The positions of the call, each replaced by an expression over its column t. */
const placedAt = (expression: string) => `tableOf({ ...query, data: query.data.map((_, t) => ${expression}) })`;
const recall = `
const known = new Map<string, Float32Array>();
function recall(key: string, make: () => Float32Array): Float32Array {
  const table = known.get(key) ?? make();
  known.set(key, table);
  return table;
}
`;

export const sinusoidalMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'positions restart in every call of a decoding session',
    seen: 'transformers#15751, keras-hub#1544, x-transformers#219',
    edits: [{ file, find: call, replace: placedAt('t % query.cols') }],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'positions counted over columns from the first token on: padding and packing ignored',
    seen: 'transformers#22069, #22161, #41789',
    edits: [{ file, find: call, replace: placedAt('query.data[0]! + (t % query.cols)') }],
    configs: [{}],
    caughtBy: 'packing',
  },
  {
    encoding,
    bug: 'the first row’s positions used for the whole batch',
    seen: 'transformers#25199 (left padding in a batch)',
    edits: [{ file, find: call, replace: placedAt('query.data[t % query.cols]!') }],
    configs: [{}],
    caughtBy: 'batching',
  },
  {
    encoding,
    bug: 'positions rounded to bfloat16',
    seen: 'candle#3520, transformers#29285',
    edits: [{ file, find: '(positions[t]! + offset)', replace: 'bfloat16(positions[t]! + offset)' }],
    helpers: bfloat16,
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'angles computed in float32',
    seen: 'gpt-neox#1003, tfjs#8389',
    edits: [
      {
        file,
        find: 'const angle = omega * (positions[t]! + offset);',
        replace: 'const angle = Math.fround(Math.fround(omega) * (positions[t]! + offset));',
      },
    ],
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'the embedding replaced instead of added to',
    edits: [
      {
        file,
        find: '}, config),',
        replace:
          '}, config).embed && { embed: (x: tf.Tensor3D) => tf.add<tf.Tensor3D>(tf.zerosLike(x), tf.tensor3d(tableOf(query), [query.rows, query.cols, dim])) },',
      },
    ],
    configs: [{}],
    caughtBy: 'every parameter learns',
  },
  {
    encoding,
    bug: 'a table cached by length alone',
    seen: 'rotary-embedding-torch#11, #12',
    edits: [
      {
        file,
        find: call,
        replace: `recall([query.data.length, dim].join(), () => ${call})`,
      },
    ],
    helpers: recall,
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'a table cached by positions, the config forgotten in the key',
    seen: 'LLMs-from-scratch#410',
    edits: [
      {
        file,
        find: call,
        replace: `recall([query.data, dim].join(), () => ${call})`,
      },
    ],
    helpers: recall,
    configs: [{}, { base: 100 }],
    caughtBy: 'independence',
  },
  {
    encoding,
    bug: 'the table kept out of reach of tidy',
    edits: [
      {
        file,
        find: made,
        replace: `tf.keep(${made})`,
      },
    ],
    configs: [{}],
    caughtBy: 'no leaked tensors',
  },
  {
    encoding,
    bug: 'modelDim taken where the embedding has a width of its own',
    seen: 'ALBERT ports',
    edits: [
      {
        file,
        find: 'const dim = absoluteWidth(config, dims);',
        replace: 'const dim = dims.modelDim;',
      },
    ],
    configs: [{}],
    caughtBy: 'hook shapes',
  },
  {
    encoding,
    bug: 'the trait shiftInvariant claimed without ground',
    edits: [{ file, find: 'shiftInvariant: false', replace: 'shiftInvariant: true' }],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'unknown keys accepted in silence',
    edits: [{ file, find: 'z.strictObject({', replace: 'z.object({' }],
    configs: [{}],
    caughtBy: 'config',
  },
  {
    encoding,
    bug: 'the offset read and forgotten',
    seen: 'gpt-neox e9dc55fb',
    edits: [{ file, find: '(positions[t]! + offset)', replace: 'positions[t]!' }],
    configs: [{}, { offset: 2 }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'a channel pair computed with a frequency other than the one shown',
    seen: 'litgpt model.py; transformers#13665',
    edits: [
      {
        file,
        find: 'const angle = omega * (positions[t]! + offset);',
        replace: 'const angle = omega * (k === 1 ? 1.1 : 1) * (positions[t]! + offset);',
      },
    ],
    configs: [{}],
    caughtBy: 'tables',
  },
];
