/** Every operation that a transformer trains with: value and gradient on wasm against cpu. */
import * as tf from '@tensorflow/tfjs';
import { expect, test } from 'vitest';
import { difference, on, tensorOf } from './results.ts';
import { trainStep } from './step.ts';

type Op = (...inputs: tf.Tensor[]) => tf.Tensor;

/** A smooth function of the inputs, and the shapes it takes. */
const operations: Record<string, readonly [op: Op, ...shapes: number[][]]> = {
  'matMul 2-D': [(a, b) => tf.matMul(a, b), [40, 30], [30, 20]],
  'matMul, right transposed': [(a, b) => tf.matMul(a, b, false, true), [40, 30], [20, 30]],
  'matMul, left transposed': [(a, b) => tf.matMul(a, b, true), [30, 40], [30, 20]],
  'matMul, both transposed': [(a, b) => tf.matMul(a, b, true, true), [30, 40], [20, 30]],
  'attention scores': [(q, k) => tf.matMul(q, k, false, true), [2, 3, 20, 16], [2, 3, 24, 16]],
  'attention values': [(w, v) => tf.matMul(w, v), [2, 3, 20, 24], [2, 3, 24, 16]],
  'one token': [(q, k) => tf.matMul(q, k, false, true), [2, 3, 1, 16], [2, 3, 24, 16]],
  gather: [(x) => tf.gather(x, tf.tensor1d([3, 0, 3, 6], 'int32')), [7, 5]],
  'gather, 2-D indices': [(x) => tf.gather(x, tf.tensor2d([3, 0, 3, 6], [2, 2], 'int32')), [7, 5]],
  'gather, last axis': [(x) => tf.gather(x, tf.tensor1d([3, 0, 3], 'int32'), 2), [2, 3, 5]],
  softmax: [(x) => tf.softmax(x), [2, 3, 9, 17]],
  logSoftmax: [(x) => tf.logSoftmax(x), [6, 65]],
  mean: [(x) => tf.mean(x, -1, true), [4, 9]],
  rsqrt: [(x) => tf.rsqrt(tf.add(tf.square(x), 1)), [4, 9]],
  square: [(x) => tf.square(x), [4, 9]],
  sqrt: [(x) => tf.sqrt(tf.add(tf.square(x), 1)), [4, 9]],
  'layer norm': [layerNorm, [4, 6, 32], [32], [32]],
  concat: [(a, b) => tf.concat([a, b], -1), [2, 3, 8], [2, 3, 5]],
  'concat, first axis': [(a, b) => tf.concat([a, b]), [2, 3], [4, 3]],
  slice: [(x) => tf.slice(x, [0, 1, 2], [2, 2, 3]), [2, 4, 8]],
  split: [(x) => tf.mul(...(tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor])), [2, 3, 8]],
  stack: [(a, b) => tf.stack([a, b], -1), [3, 4], [3, 4]],
  unstack: [(x) => tf.mul(...(tf.unstack(x, -1) as [tf.Tensor, tf.Tensor])), [3, 4, 2]],
  pad: [
    (x) =>
      tf.pad(x, [
        [0, 1],
        [2, 0],
      ]),
    [3, 4],
  ],
  reshape: [(x) => tf.reshape(x, [6, 4]), [2, 3, 4]],
  transpose: [(x) => tf.transpose(x, [0, 2, 1, 3]), [2, 5, 3, 4]],
  reverse: [(x) => tf.reverse(x, 1), [3, 4]],
  relu: [(x) => tf.relu(x), [40]],
  sigmoid: [(x) => tf.sigmoid(x), [40]],
  // Of an input only: tfjs's own gradient of logSigmoid loses an intermediate value, on every backend.
  logSigmoid: [(x) => tf.logSigmoid(x), [40]],
  'logSigmoid, written out': [(x) => tf.neg(tf.softplus(tf.neg(tf.mul(x, 5)))), [40]],
  softplus: [(x) => tf.softplus(tf.mul(x, 5)), [40]],
  tanh: [(x) => tf.tanh(tf.mul(x, 3)), [40]],
  exp: [(x) => tf.exp(x), [40]],
  expm1: [(x) => tf.expm1(x), [40]],
  log: [(x) => tf.log(tf.add(tf.abs(x), 0.5)), [40]],
  log1p: [(x) => tf.log1p(tf.abs(x)), [40]],
  erf: [(x) => tf.erf(x), [40]],
  'gelu, exact': [(x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1)), [40]],
  cos: [(x) => tf.cos(tf.mul(x, 9)), [40]],
  sin: [(x) => tf.sin(tf.mul(x, 9)), [40]],
  abs: [(x) => tf.abs(x), [40]],
  neg: [(x) => tf.neg(x), [40]],
  elu: [(x) => tf.elu(x), [40]],
  clip: [(x) => tf.clipByValue(x, -0.5, 0.5), [40]],
  floor: [(x) => tf.add(x, tf.floor(tf.mul(x, 4))), [40]],
  maximum: [(a, b) => tf.maximum(a, b), [5, 8], [5, 8]],
  minimum: [(a, b) => tf.minimum(a, b), [5, 8], [5, 8]],
  'maximum with a number': [(x) => tf.maximum(x, 0.2), [40]],
  'minimum with a number': [(x) => tf.minimum(x, 0.2), [40]],
  'pow by a number': [(x) => tf.pow(tf.add(tf.abs(x), 0.1), 1.5), [40]],
  'pow by a tensor': [(x, y) => tf.pow(tf.add(tf.abs(x), 0.1), y), [5, 8], [5, 8]],
  'add, broadcast': [(a, b) => tf.add(a, b), [2, 3, 5, 4], [1, 3, 5, 1]],
  'sub, broadcast': [(a, b) => tf.sub(a, b), [2, 3, 5, 4], [5, 4]],
  'mul, broadcast': [(a, b) => tf.mul(a, b), [2, 3, 5, 4], [2, 1, 1, 4]],
  'div, broadcast': [(a, b) => tf.div(a, tf.add(tf.abs(b), 0.5)), [2, 3, 5, 4], [4]],
  'sum, last axis': [(x) => tf.sum(x, -1), [3, 4, 20]],
  'sum, first axes': [(x) => tf.sum(x, [0, 1]), [3, 4, 20]],
  'sum, middle axis': [(x) => tf.sum(x, 1, true), [3, 4, 20]],
  'max, last axis': [(x) => tf.max(x, -1), [3, 20]],
  'max, first axis': [(x) => tf.max(x, 0), [3, 20]],
  tile: [(x) => tf.tile(x, [2, 3]), [3, 4]],
  broadcastTo: [(x) => tf.broadcastTo(x, [3, 5, 4]), [1, 4]],
  where: [(a, b) => tf.where(tf.tensor2d([1, 0, 0, 1, 1, 0], [2, 3], 'bool'), a, b), [2, 3], [2, 3]],
  // The last axis, not written −1: tfjs's own gradient of any other is wrong, on every backend.
  cumsum: [(x) => tf.cumsum(x, 1), [5, 4]],
  cast: [(x) => tf.cast(x, 'float32'), [5]],
  addN: [(a, b) => tf.addN([a, b, a]), [5, 4], [5, 4]],
};

function layerNorm(...[x, gain, bias]: tf.Tensor[]): tf.Tensor {
  const centred = tf.sub(x!, tf.mean(x!, -1, true));
  const variance = tf.mean(tf.square(centred), -1, true);
  return tf.add(tf.mul(tf.mul(centred, tf.rsqrt(tf.add(variance, 1e-5))), gain!), bias!);
}

test.each(Object.entries(operations))('%s', async (_, [op, ...shapes]) => {
  /** The value, then the gradient of a weighted sum of it for each input. */
  const compute = () => {
    const inputs = shapes.map((shape, i) => tensorOf(`input ${i}`, shape));
    const value = op(...inputs);
    const weights = tensorOf('weights', value.shape);
    const gradients = tf.grads((...x) => tf.sum(tf.mul(op(...x), weights)))(inputs);
    return [value, ...gradients];
  };
  const expected = await on('cpu', compute);
  const actual = await on('wasm', compute);
  for (const [i, result] of actual.entries()) {
    expect(difference(result, expected[i]!, 1e-5)).toBeUndefined();
    if (i > 0) expect(result.values.some((gradient) => gradient !== 0)).toBe(true);
  }
});

test('oneHot and argMax, which have no gradient', async () => {
  const compute = () => [
    tf.oneHot(tf.tensor2d([1, 0, 3, 2], [2, 2], 'int32'), 4),
    tf.argMax(tensorOf('x', [5, 9]), -1),
  ];
  expect(await on('wasm', compute)).toEqual(await on('cpu', compute));
});

test('five training steps of a transformer', async () => {
  const losses = () => {
    const step = trainStep({ numLayers: 2, modelDim: 32, numHeads: 4, batch: 2, length: 24, vocab: 30 });
    return tf.stack(Array.from({ length: 5 }, step)) as tf.Tensor;
  };
  const [expected] = await on('cpu', losses);
  const [actual] = await on('wasm', losses);
  expect(difference(actual!, expected!, 1e-5)).toBeUndefined();
  expect(actual!.values.at(-1)).toBeLessThan(actual!.values[0]!);
});
