/** Everything whose work is shared between threads, at sizes that are shared. */
import * as tf from '@tensorflow/tfjs';
import { attention } from '../../core/src/attention.ts';
import { activations } from '../../core/src/kernels/activation.ts';
import { dropout } from '../../core/src/kernels/dropout.ts';
import { layerNorm } from '../../core/src/kernels/norm.ts';
import { rotatePairs } from '../../core/src/kernels/rotary.ts';
import { createMask } from '../../core/src/mask.ts';
import { planOffsets } from '../../core/src/offsets.ts';
import { range } from '../../core/src/positions.ts';
import { stream } from '../../core/src/random.ts';
import { tensorOf } from './numbers.ts';

export function compute(): tf.Tensor[] {
  const x = tensorOf(1, [700, 130]) as tf.Tensor2D;
  const w = tensorOf(2, [130, 300]) as tf.Tensor2D;
  const heads = [3, 4, 5].map((seed) => tensorOf(seed, [2, 6, 200, 16]) as tf.Tensor4D);
  const row = tensorOf(6, [6, 399]) as tf.Tensor2D;
  const mask = createMask({ causal: true, numQueries: 200, numKeys: 200 });
  const attend = (q: tf.Tensor, k: tf.Tensor, v: tf.Tensor, bias: tf.Tensor) =>
    attention(
      q as tf.Tensor4D,
      k as tf.Tensor4D,
      v as tf.Tensor4D,
      { relativeBias: () => bias as tf.Tensor2D },
      {
        mask,
        scoreScale: 0.3,
        dropout: { rate: 0.1, random: stream(1, 'weights') },
        offsets: planOffsets(range(200), range(200)),
      },
    );
  const large = tensorOf(7, [300, 2000]);
  const ids = tf.tensor1d(
    Int32Array.from({ length: 700 }, (_, i) => (i * i) % 50),
    'int32',
  );
  const tables = { cos: tensorOf(11, [1, 1, 200, 8]) as tf.Tensor4D, sin: tensorOf(12, [1, 1, 200, 8]) as tf.Tensor4D };
  return [
    tf.matMul(x, w),
    tf.matMul(x, x, true, false),
    tf.matMul(heads[0]!, heads[1]!, false, true),
    ...tf.grads((a, b, c, d) => tf.sum(tf.square(attend(a!, b!, c!, d!))))([...heads, row]),
    ...tf.grads((a, gain, bias) => tf.sum(tf.square(layerNorm(a!, gain!, bias, 1e-5))))([
      x,
      tensorOf(8, [130]),
      tensorOf(9, [130]),
    ]),
    ...[
      tf.sum(large, 0),
      tf.sum(large, 1),
      tf.softmax(large),
      tf.exp(large),
      tf.transpose(large),
      tf.add(large, tensorOf(10, [300, 1])),
    ],
    tf.unsortedSegmentSum(x, ids, 50),
    rotatePairs(heads[0]!, tables, 'half'),
    dropout(large, 0.2, stream(1, 'dropout')),
    ...tf.grads((gate, up) => tf.sum(activations.swiglu!.apply(gate as tf.Tensor2D, up as tf.Tensor2D)))([
      x,
      tf.neg(x),
    ]),
    tf.cumsum(large, 1),
    tf.stack([x, x], 2),
    ...tf.unstack(x.reshape([700, 65, 2]), 2),
  ];
}
