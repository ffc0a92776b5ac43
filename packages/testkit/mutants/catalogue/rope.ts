import { bfloat16, type Mutant } from '../mutant.ts';

const file = 'rope.ts';
const encoding = 'rope';
const rotate = 'rotate: (u) => applyRotary(u, tensors, config.pairing)';
const angle = 'const angle = position * invFreq[k]!;';
const turn = 'tf.stack([tf.sub(tf.mul(x, cos), tf.mul(y, sin)), tf.add(tf.mul(y, cos), tf.mul(x, sin))])';
const remember =
  'const table = known.get(key) ?? tablesAt(positions); known.set(key, table); const tensors = rotaryTensors(table);';
const known = 'const known = new Map<string, RotaryTables>();\n';
/** The positions of the call, each replaced by an expression over its column t. */
const placedAt = (expression: string) => `const { cols, data } = positions.query;
  const query = { ...positions.query, data: data.map((_, t) => ${expression}) };
  const tensors = rotaryTensors(tablesAt({ ...positions, query }));`;
const dynamic = { scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 16 } };
const tablesAt = 'const tensors = rotaryTensors(tablesAt(positions));';

export const ropeMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'only queries rotated',
    edits: [
      {
        file,
        find: rotate,
        replace: "rotate: (u, side) => (side === 'key' ? u : applyRotary(u, tensors, config.pairing))",
      },
    ],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'keys turned the other way',
    seen: 'nntrainer#3982',
    edits: [
      {
        file,
        find: rotate,
        replace:
          "rotate: (u, side) => applyRotary(u, side === 'key' ? { ...tensors, sin: tensors.sin.neg() } : tensors, config.pairing)",
      },
    ],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'half and interleaved mixed up between queries and keys',
    seen: 'transformers#46372, #46842, #25199',
    edits: [
      {
        file,
        find: rotate,
        replace: "rotate: (u, side) => applyRotary(u, tensors, side === 'key' ? 'interleaved' : config.pairing)",
      },
    ],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'tables laid out for one pairing, rotation for the other: a pair’s members turn by different angles',
    seen: 'transformers#47403',
    edits: [
      {
        file: 'rotary.ts',
        find: turn,
        replace:
          'tf.stack([tf.sub(tf.mul(x, cos), tf.mul(y, sin)), tf.add(tf.mul(y, tf.reverse(cos, 3)), tf.mul(x, tf.reverse(sin, 3)))])',
      },
    ],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'a minus sign missing from the rotation',
    seen: 'transformers#16298',
    edits: [
      {
        file: 'rotary.ts',
        find: turn,
        replace: 'tf.stack([tf.add(tf.mul(x, cos), tf.mul(y, sin)), tf.add(tf.mul(y, cos), tf.mul(x, sin))])',
      },
    ],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'positions rounded to bfloat16',
    seen: 'candle#3520, transformers#29285, #29496',
    edits: [{ file: 'rotary.ts', find: angle, replace: 'const angle = bfloat16(position) * invFreq[k]!;' }],
    helpers: bfloat16,
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'angles computed in float32',
    seen: 'gpt-neox#1003, tfjs#8389, diffusers#13922',
    edits: [
      { file: 'rotary.ts', find: angle, replace: 'const angle = Math.fround(position * Math.fround(invFreq[k]!));' },
    ],
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'positions restart in every call of a decoding session',
    seen: 'keras-hub#1544, transformers#15751',
    edits: [
      {
        file,
        find: tablesAt,
        replace: placedAt('t % cols'),
      },
    ],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'positions counted over columns from the first token on',
    seen: 'transformers#22069, #22161 (harmless under a relative encoding until positions have gaps)',
    edits: [
      {
        file,
        find: tablesAt,
        replace: placedAt('data[0]! + (t % cols)'),
      },
    ],
    configs: [{}],
    caughtBy: 'position sensitivity',
  },
  {
    encoding,
    bug: 'keys cached unrotated: turned only when queries and keys are equally many',
    seen: 'gpt-neox#363',
    edits: [
      {
        file,
        find: rotate,
        replace:
          "rotate: (u, side) => (side === 'key' && positions.query.cols !== positions.key.cols ? u : applyRotary(u, tensors, config.pairing))",
      },
    ],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'an explicit headDim ignored: modelDim / numHeads taken for it',
    seen: 'transformers#32495, #40819',
    edits: [
      {
        file,
        find: 'create(config, { headDim }) {',
        replace:
          'create(config, { modelDim, numHeads }) {\n      const headDim = 2 * Math.floor(modelDim / numHeads / 2);',
      },
    ],
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'a table cached by length alone, the offset ignored',
    seen: 'rotary-embedding-torch#11, #12, #15, #18, #27',
    edits: [
      {
        file,
        find: tablesAt,
        replace: `const { rows, cols } = positions.query; const key = JSON.stringify([rows, cols, config, headDim]); ${remember}`,
      },
    ],
    helpers: known,
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'a table cached for all configs',
    seen: 'LLMs-from-scratch#410',
    edits: [
      {
        file,
        find: tablesAt,
        replace: `const key = [positions.query.rows, positions.query.data].join(); ${remember}`,
      },
    ],
    helpers: known,
    configs: [{}, { base: 100 }],
    caughtBy: 'independence',
  },
  {
    encoding,
    bug: 'dynamic NTK follows the longest row of the batch',
    seen: 'transformers#25104',
    edits: [
      {
        file,
        find: 'frequenciesFor(at(seqLen, row, column))',
        replace: 'frequenciesFor(at(seqLen, row, column) * 0 + Math.max(...seqLen.data))',
      },
    ],
    configs: [dynamic],
    caughtBy: 'padding',
  },
  {
    encoding,
    bug: 'dynamic NTK follows the highest position of the call: keys cached under several bases',
    seen: 'transformers#25104, #46624, #33129',
    edits: [
      {
        file,
        find: 'frequenciesFor(at(seqLen, row, column))',
        replace: 'frequenciesFor(at(seqLen, row, column) * 0 + Math.max(...query.data) + 1)',
      },
    ],
    configs: [dynamic],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'dynamic NTK remembers the longest sequence seen',
    seen: 'transformers dynamic_frequency_update',
    edits: [
      {
        file,
        find: 'frequenciesFor(at(seqLen, row, column))',
        replace: 'frequenciesFor((longest = Math.max(longest, at(seqLen, row, column))))',
      },
    ],
    helpers: 'let longest = 0;\n',
    configs: [dynamic],
    caughtBy: 'determinism',
  },
  {
    encoding,
    bug: 'the trait readsSeqLen denied',
    edits: [{ file, find: '          readsSeqLen,\n        },', replace: '          readsSeqLen: false,\n        },' }],
    configs: [dynamic],
    caughtBy: 'sequence length',
  },
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
    bug: 'channels that do not turn dropped',
    seen: 'gpt-neox e7c1b469',
    edits: [{ file: 'rotary.ts', find: '(passing ? tf.concat([result, passing], 3) : result)', replace: 'result' }],
    configs: [{ partialRotaryFactor: 0.5 }],
    caughtBy: 'hook shapes',
  },
  {
    encoding,
    bug: 'one head left unrotated',
    edits: [
      {
        file,
        find: rotate,
        replace:
          'rotate: (u) => { const [first, rest] = tf.split(u, [1, u.shape[1] - 1], 1) as [tf.Tensor4D, tf.Tensor4D]; return tf.concat([first, applyRotary(rest, tensors, config.pairing)], 1) as tf.Tensor4D; }',
      },
      {
        file,
        find: 'import { applyRotary,',
        replace: "import * as tf from '@tensorflow/tfjs';\nimport { applyRotary,",
      },
    ],
    configs: [{}],
    caughtBy: 'head permutation',
  },
  {
    encoding,
    bug: 'a custom gradient that forgets to turn back',
    edits: [
      {
        file,
        find: rotate,
        replace:
          'rotate: (u) => tf.customGrad((v) => ({ value: applyRotary(v as tf.Tensor4D, tensors, config.pairing), gradFunc: (dy) => dy }))(u) as tf.Tensor4D',
      },
      {
        file,
        find: 'import { applyRotary,',
        replace: "import * as tf from '@tensorflow/tfjs';\nimport { applyRotary,",
      },
    ],
    configs: [{}],
    caughtBy: 'gradients',
  },
  {
    encoding,
    bug: 'tables kept out of reach of tidy',
    edits: [
      {
        file: 'rotary.ts',
        find: 'tf.tensor4d(Float32Array.from(table), [rows, 1, cols, pairs])',
        replace: 'tf.keep(tf.tensor4d(Float32Array.from(table), [rows, 1, cols, pairs]))',
      },
    ],
    configs: [{}],
    caughtBy: 'no leaked tensors',
  },
  {
    encoding,
    bug: 'frequencies spaced by another width than the one shown',
    edits: [
      {
        file: 'rotary.ts',
        find: angle,
        replace: 'const angle = position * invFreq[k]! ** (pairs / (pairs + 1));',
      },
    ],
    configs: [{}],
    caughtBy: 'tables',
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
