/** Fused kernels through the functions that use them, against the composed path on the cpu backend, with gradients. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { activations } from '../../core/src/kernels/activation.ts';
import { adamwStep } from '../../core/src/kernels/adamw.ts';
import { crossEntropy } from '../../core/src/kernels/cross-entropy.ts';
import { dropout } from '../../core/src/kernels/dropout.ts';
import { hasKernel } from '../../core/src/kernels/fused.ts';
import { layerNorm, rmsNorm } from '../../core/src/kernels/norm.ts';
import { stream } from '../../core/src/random.ts';
import { useSimd } from '../src/index.ts';
import { agree, extent, numbers, seeds, shapes, tensorOf, wildTensorOf } from './agree.ts';

/** Values and all gradients of Σ weights·f, for weights drawn at random. */
function withGradients(f: (...x: tf.Tensor[]) => tf.Tensor, inputs: tf.Tensor[], seed: number): tf.Tensor[] {
  const y = f(...inputs);
  const weights = tensorOf(seed, y.shape);
  return [y, ...tf.grads((...x) => tf.sum(tf.mul(f(...x), weights)))(inputs)];
}

const sizes = fc.integer({ min: 1, max: 37 });

test('the kernels are there', async () => {
  await useSimd();
  for (const name of ['LayerNorm', 'RmsNorm', 'CrossEntropy', 'Gelu', 'GatedActivation', 'Dropout', 'AdamW'])
    expect(hasKernel(name)).toBe(true);
});

test('layer norm and RMS norm', async () => {
  const rows = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 60, max: 200 }));
  await fc.assert(
    fc.asyncProperty(rows, sizes, seeds, fc.boolean(), async (n, width, seed, biased) => {
      const inputs = () => [
        tf.add(tf.mul(tensorOf(seed, [n, width]), 3), 1),
        tensorOf(seed + 1, [width]),
        ...(biased ? [tensorOf(seed + 2, [width])] : []),
      ];
      await agree(() => withGradients((x, gain, bias) => layerNorm(x!, gain!, bias, 1e-2), inputs(), seed + 3), 1e-4);
      await agree(() => withGradients((x, gain) => rmsNorm(x!, gain!, 1e-2), inputs().slice(0, 2), seed + 3), 1e-4);
    }),
  );
  await agree(() => rmsNorm(tensorOf(1, [2, 3, 5, 8]), tensorOf(2, [8]), 1e-6), 1e-5);
});

test('cross-entropy, labels below 0 not scored', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 2, max: 70 }), seeds, async (n, vocab, seed) => {
      const next = numbers(seed);
      const labels = Int32Array.from({ length: n }, () => Math.floor(((next() + 1) / 2) * (vocab + 1)) - 1);
      const logits = () => [tf.mul(tensorOf(seed, [n, vocab]), 20)];
      await agree(() => withGradients((x) => crossEntropy(x as tf.Tensor2D, labels), logits(), seed + 1), 1e-5);
    }),
  );
  await useSimd();
  expect(() => crossEntropy(tf.zeros([1, 3]), Int32Array.of(3))).toThrow('the label 3 is not below the 3 classes');
});

test.each(['gelu', 'gelu-tanh', 'swiglu'])('%s', async (name) => {
  const x = () => [tf.mul(tensorOf(1, [301, 7]), 6)];
  await agree(() => withGradients((u) => activations[name]!.apply(u as tf.Tensor2D), x(), 2), 3e-6);
  await agree(() => activations[name]!.apply(tf.tensor2d([[0, -0, 50, -50, Number.NaN, 1e-20]])), 1e-6);
});

test.each(['swiglu', 'geglu', 'geglu-tanh'])('%s as a gate', async (name) => {
  const { apply } = activations[name]!;
  await fc.assert(
    fc.asyncProperty(shapes(2, 2, extent), seeds, async (shape, seed) => {
      const inputs = () => [tf.mul(tensorOf(seed, shape), 6), tensorOf(seed + 1, shape)];
      await agree(() => withGradients((...x) => apply(...(x as [tf.Tensor2D, tf.Tensor2D])), inputs(), 2), 3e-6);
    }),
  );
  const wild = (seed: number) => wildTensorOf(seed, [9, 31], false) as tf.Tensor2D;
  await agree(() => apply(wild(1), wild(2)), 1e-6);
});

test('AdamW', async () => {
  for (const n of [1, 7, 64, 40_001])
    await agree(() => {
      const [theta, m, v, gradient, decay] = [1, 2, 3, 4, 5].map((seed) => tensorOf(seed, [n]) as tf.Tensor1D);
      const state = { theta: theta!, m: m!, v: tf.abs(v!) };
      const options = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, learningRate: 0.01, step: 3 };
      return Object.values(adamwStep(state, { gradient: gradient!, decay: decay!, clip: tf.scalar(0.3) }, options));
    }, 2e-6);
});

test('dropout: the same bits on both backends, whatever is in them', async () => {
  await fc.assert(
    fc.asyncProperty(
      shapes(0, 3, extent),
      fc.double({ min: 0.01, max: 0.95, noNaN: true }),
      seeds,
      async (shape, rate, seed) => {
        const drop = (x: tf.Tensor) => dropout(x, rate, stream(seed, 'dropout'));
        await agree(() => [
          ...withGradients((x) => drop(x!), [tensorOf(seed, shape)], seed),
          drop(wildTensorOf(seed, shape)),
        ]);
      },
    ),
  );
  await agree(() => dropout(tf.ones([300, 1001]), 0.1, stream(1, 'dropout')));
});

test('dropout: two masks of one stream differ, and the stream goes on alike on both backends', async () => {
  await agree(() => {
    const random = stream(3, 'dropout');
    const [a, b] = [dropout(tf.ones([1000]), 0.5, random), dropout(tf.ones([1000]), 0.5, random)];
    return [a, b, tf.sum(tf.abs(tf.sub(a, b))), tf.scalar(random.next() / 2 ** 31)];
  });
});
