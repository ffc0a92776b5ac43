/** Repeated training steps leave nothing behind: no tensor, no range of WebAssembly memory. */
import * as tf from '@tensorflow/tfjs';
import { expect, test } from 'vitest';
import { useBackend } from '../src/index.ts';
import type { WasmBackend } from '../src/wasm/memory.ts';
import { tensorOf } from './results.ts';
import { trainStep } from './step.ts';

function held() {
  const backend = tf.backend() as unknown as WasmBackend & { numDataIds(): number };
  return { tensors: tf.memory().numTensors, ranges: backend.numDataIds(), bytes: backend.wasm.HEAPU8.byteLength };
}

/** An embedding and two dense layers, with fused products and stacked features in passing. */
function mlpStep(): () => void {
  const table = tf.variable(tensorOf('table', [20, 16]));
  const [w1, b1] = [tf.variable(tensorOf('w1', [32, 64])), tf.variable(tensorOf('b1', [64]))];
  const w2 = tf.variable(tensorOf('w2', [64, 20]));
  const ids = tf.tensor1d(Int32Array.from({ length: 128 }, (_, i) => (i * 7) % 20));
  const targets = tf.oneHot(ids, 20, 1, 0, 'float32' as 'int32');
  const optimizer = tf.train.adam(1e-3);
  return () => {
    const loss = optimizer.minimize(() => {
      const x = tf.gather(table, ids);
      const features = tf.reshape(tf.stack([x, tf.maximum(x, 0.1)], -1), [128, 32]);
      const hidden = tf.tanh(tf.add(tf.matMul(features as tf.Tensor2D, w1), b1));
      return tf.neg(tf.mean(tf.sum(tf.mul(tf.logSoftmax(tf.matMul(hidden as tf.Tensor2D, w2)), targets), -1)));
    }, true)!;
    loss.dispose();
  };
}

const steps = {
  'an MLP': mlpStep,
  'a transformer': () => {
    const step = trainStep({ numLayers: 1, modelDim: 32, numHeads: 2, batch: 2, length: 16, vocab: 20 });
    return () => step().dispose();
  },
};

test.each(Object.entries(steps))('200 steps of %s hold no more than the first', async (_, create) => {
  await useBackend('wasm');
  const step = create();
  for (let i = 0; i < 20; i++) step();
  const before = held();
  for (let i = 0; i < 200; i++) step();
  expect(held()).toEqual(before);
});

test('kernels that run on the cpu backend leave nothing on either', async () => {
  await useBackend('wasm');
  const cpu = tf.findBackend('cpu') as unknown as { numDataIds(): number };
  const run = () => tf.tidy(() => void tf.sign(tf.einsum('ij,jk->ik', tensorOf('a', [3, 4]), tensorOf('b', [4, 5]))));
  run();
  const before = { ...held(), cpu: cpu.numDataIds() };
  for (let i = 0; i < 50; i++) run();
  expect({ ...held(), cpu: cpu.numDataIds() }).toEqual(before);
});

test('every kernel gives back what it takes in passing', async () => {
  await useBackend('wasm');
  // With this flag tfjs counts the ranges before and after each kernel and throws when one stays.
  tf.env().set('IS_TEST', true);
  try {
    tf.tidy(() => {
      const [a, b] = [tensorOf('a', [2, 1, 8, 40]), tensorOf('b', [1, 3, 9, 40])];
      tf.matMul(a, b, false, true);
      tf.maximum(tensorOf('c', [3, 1]), tensorOf('d', [1, 4]));
      tf.greater(tensorOf('c', [3, 1]), tensorOf('d', [1, 4]));
      tf.fused.matMul({
        a: tensorOf('e', [8, 8]) as tf.Tensor2D,
        b: tensorOf('f', [8, 8]) as tf.Tensor2D,
        bias: tensorOf('g', [8]),
        activation: 'relu',
      });
      tf.einsum('ij,jk->ik', tensorOf('h', [3, 4]), tensorOf('i', [4, 5]));
      tf.sum(tensorOf('j', [33, 16]), 0);
      tf.transpose(tensorOf('k', [128, 128]));
    });
  } finally {
    tf.env().set('IS_TEST', false);
  }
});
