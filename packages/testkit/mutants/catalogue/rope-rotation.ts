/** Planted in how RoPE turns channels: which of them, by which angles, on which side. */
import { bfloat16, type Mutant } from '../mutant.ts';
import { encoding, file, rotate } from './rope-source.ts';

const angle = 'const angle = position * invFreq[k]!;';
const turning = 'return rotatePairs(';

/** Stand-ins for `rotatePairs`, of which each keeps a part. */
const twisted = `
function twisted(u: Tensor4D, { cos, sin }: RotaryTensors, from: 'half' | 'interleaved', to: 'half' | 'interleaved'): Tensor4D {
  const backwards = { cos: tf.reverse(cos, 3), sin: tf.reverse(sin, 3) };
  const [first] = tf.split(rotatePairs(u, { cos, sin }, from, to), 2, 3);
  const [, second] = tf.split(rotatePairs(u, backwards, from, to), 2, 3);
  return tf.concat([first!, second!], 3) as Tensor4D;
}
`;
const unsigned = `
function unsigned(u: Tensor4D, { cos, sin }: RotaryTensors, from: 'half' | 'interleaved', to: 'half' | 'interleaved'): Tensor4D {
  const [first] = tf.split(rotatePairs(u, { cos, sin: sin.neg() }, from, to), 2, 3);
  const [, second] = tf.split(rotatePairs(u, { cos, sin }, from, to), 2, 3);
  return tf.concat([first!, second!], 3) as Tensor4D;
}
`;
const cutOff = `
function cutOff(u: Tensor4D, tables: RotaryTensors, from: 'half' | 'interleaved', to: 'half' | 'interleaved'): Tensor4D {
  return tf.slice(rotatePairs(u, tables, from, to), [0, 0, 0, 0], [-1, -1, -1, 2 * tables.cos.shape[3]]);
}
`;

export const ropeRotationMutants: readonly Mutant[] = [
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
    edits: [{ file: 'rotary.ts', find: turning, replace: 'return twisted(' }],
    helpers: twisted,
    configs: [{}],
    caughtBy: 'shift invariance',
  },
  {
    encoding,
    bug: 'a minus sign missing from the rotation',
    seen: 'transformers#16298',
    edits: [{ file: 'rotary.ts', find: turning, replace: 'return unsigned(' }],
    helpers: unsigned,
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
    bug: 'channels that do not turn dropped',
    seen: 'gpt-neox e7c1b469',
    edits: [{ file: 'rotary.ts', find: turning, replace: 'return cutOff(' }],
    helpers: cutOff,
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
];
