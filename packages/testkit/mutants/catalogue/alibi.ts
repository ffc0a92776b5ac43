import { bfloat16, type Mutant } from '../mutant.ts';

const file = 'alibi.ts';
const rules = 'bias.ts';
const encoding = 'alibi';
const term = '-slopes[head]! * distance';
const learnable = 'tf.mul<Tensor2D>(slopes, distances)';
const fixed = 'return encoding({ traits, params: {}, hooks: () => () => ({ layer: () => ({ relativeBias }) }) });';

export const alibiMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'the sign of the bias flipped: far tokens favoured',
    edits: [{ file: rules, find: term, replace: 'slopes[head]! * distance' }],
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'the wrong sign on one side: signed offsets in a bidirectional stack',
    seen: 'attention_with_linear_biases#5',
    edits: [{ file: rules, find: term, replace: 'slopes[head]! * offsets[i % n]!' }],
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'm·j added, right under a causal mask only, in a bidirectional stack',
    seen: 'llm-foundry#186, BLOOM’s form',
    edits: [
      {
        file,
        find: fixed,
        replace: `return encoding({ traits, params: {}, hooks: () => ({ key }) => ({ layer: () => ({ bias: () => tf.mul(
          tf.tensor4d(Float32Array.from(slopes), [1, numHeads, 1, 1]),
          tf.tensor4d(Float32Array.from(key.data), [key.rows, 1, 1, key.cols]),
        ) }) }) });`,
      },
      { file, find: 'const relativeBias = (offsets: Int32Array) =>', replace: 'const _ = (offsets: Int32Array) =>' },
    ],
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'distances cut at 0, a causal rule, in a bidirectional stack',
    seen: 'KERPLE’s authors (causal only)',
    edits: [{ file: rules, find: term, replace: '-slopes[head]! * Math.max(0, -offsets[i % n]!)' }],
    configs: [{}],
    caughtBy: 'causal or bidirectional',
  },
  {
    encoding,
    bug: 'a bias row cut for square attention: wrong when there are more keys than queries',
    seen: 'candle#899, transformers#47359',
    edits: [{ file: rules, find: term, replace: '-slopes[head]! * Math.abs((i % n) - (n - 1) / 2)' }],
    configs: [{}],
    caughtBy: 'cached decoding',
  },
  {
    encoding,
    bug: 'the row cached by its length alone',
    seen: 'gpt-neox AliBi class',
    edits: [
      {
        file: rules,
        find: 'const n = offsets.length;',
        replace: 'const n = offsets.length; offsets = known.get(n) ?? offsets; known.set(n, offsets);',
      },
    ],
    helpers: 'const known = new Map<number, ArrayLike<number>>();\n',
    configs: [{}],
    caughtBy: 'offsets alone',
  },
  {
    encoding,
    bug: 'heads in reverse order',
    seen: 'TensorRT-LLM#1611, flashinfer#5101',
    edits: [{ file: rules, find: term, replace: '-slopes[slopes.length - 1 - head]! * distance' }],
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'learned slopes in reverse order of heads',
    edits: [
      {
        file,
        find: learnable,
        replace: 'tf.mul<Tensor2D>(tf.reverse(slopes, 0), distances)',
      },
    ],
    configs: [{ learnable: true }],
    caughtBy: 'head permutation',
  },
  {
    encoding,
    bug: 'the plain geometric slopes for every number of heads',
    seen: 'transformers#28380, mlx#3071, attention-gym',
    edits: [
      {
        file: rules,
        find: "if (slopes === 'geometric' || below === numHeads)",
        replace: "if (slopes !== 'geometric' || below > 0)",
      },
    ],
    configs: [{}, { slopes: 'geometric' }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'distances in bfloat16',
    seen: 'gpt-neox AliBi class, Falcon',
    edits: [{ file: rules, find: term, replace: '-slopes[head]! * bfloat16(distance)' }],
    helpers: bfloat16,
    configs: [{}],
    caughtBy: 'tables',
  },
  {
    encoding,
    bug: 'a gradient that is not a number at distance 0',
    seen: 'KERPLE power: d/dp of 0^p',
    edits: [
      {
        file,
        find: learnable,
        replace: '(tf.sqrt(tf.square(tf.mul(slopes, distances))).neg() as Tensor2D)',
      },
    ],
    configs: [{ learnable: true }],
    caughtBy: 'gradients',
  },
  {
    encoding,
    bug: 'a dead parameter: the fixed slopes used although they are to be learned',
    seen: 'NeMo KERPLE, rotary-embedding-torch 2cab6c4',
    edits: [
      {
        file,
        find: learnable,
        replace: 'tf.mul<Tensor2D>(tf.tensor2d(slopes.dataSync(), [numHeads, 1]), distances)',
      },
    ],
    configs: [{ learnable: true }],
    caughtBy: 'every parameter learns',
  },
  {
    encoding,
    bug: 'a custom gradient of the wrong sign',
    edits: [
      {
        file,
        find: learnable,
        replace:
          'tf.mul<Tensor2D>(tf.customGrad((w) => ({ value: (w as tf.Tensor).clone(), gradFunc: (dy) => tf.neg(dy) }))(slopes), distances)',
      },
    ],
    configs: [{ learnable: true }],
    caughtBy: 'gradients',
  },
  {
    encoding,
    bug: 'maxBias read and forgotten',
    edits: [{ file: rules, find: '2 ** ((-maxBias * (h + 1)) / n)', replace: '2 ** ((-8 * (h + 1)) / n)' }],
    configs: [{}, { maxBias: 4 }],
    caughtBy: 'distinct configs',
  },
  {
    encoding,
    bug: 'slopes cached for the first number of heads asked for',
    seen: 'flashinfer#1606',
    edits: [
      {
        file,
        find: 'const slopes = slopesOf(config, numHeads, causal);',
        replace: 'const slopes = (first ??= slopesOf(config, numHeads, causal));',
      },
    ],
    helpers: 'let first: Float64Array | undefined;\n',
    configs: [{}],
    caughtBy: 'independence',
  },
  {
    encoding,
    bug: 'unknown keys accepted in silence',
    edits: [{ file, find: '.strictObject({', replace: '.object({' }],
    configs: [{}],
    caughtBy: 'config',
  },
];
