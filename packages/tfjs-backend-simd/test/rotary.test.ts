/** Turned pairs of channels, against the composed path on the cpu backend, with the gradient. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasKernel } from '../../core/src/kernels/fused.ts';
import { type PairLayout, rotatePairs } from '../../core/src/kernels/rotary.ts';
import { useSimd } from '../src/index.ts';
import { agree, extent, seeds, tensorOf, wildTensorOf } from './agree.ts';

const layouts: readonly PairLayout[] = ['half', 'interleaved'];
const pairsOfLayouts = layouts.flatMap((from) => layouts.map((to) => [from, to] as const));

interface Sizes {
  readonly B: number;
  readonly H: number;
  readonly T: number;
  readonly pairs: number;
  readonly rest: number;
  readonly shared: boolean;
}

/** Tables as rotary encodings make them, times a factor of each entry's own. */
function tablesOf({ B, T, pairs, shared }: Sizes, seed: number) {
  const shape = [shared ? 1 : B, 1, T, pairs];
  const [angles, factors] = [tf.mul(tensorOf(seed, shape), 9), tf.add(tensorOf(seed + 1, shape), 2)];
  return {
    cos: tf.mul(tf.cos(angles), factors) as tf.Tensor4D,
    sin: tf.mul(tf.sin(angles), factors) as tf.Tensor4D,
  };
}

function turned(sizes: Sizes, seed: number, [from, to]: readonly [PairLayout, PairLayout]): tf.Tensor[] {
  const { B, H, T, pairs, rest } = sizes;
  const u = tensorOf(seed, [B, H, T, 2 * pairs + rest]);
  const weights = tensorOf(seed + 1, u.shape);
  const f = (x: tf.Tensor) => rotatePairs(x as tf.Tensor4D, tablesOf(sizes, seed + 2), from, to);
  return [f(u), tf.grad((x) => tf.sum(tf.mul(f(x), weights)))(u)];
}

test('the kernel is there', async () => {
  await useSimd();
  expect(hasKernel('RotatePairs')).toBe(true);
});

test.each(pairsOfLayouts)('from %s to %s, any sizes, all channels or some', async (...layout) => {
  const few = fc.integer({ min: 0, max: 3 });
  await fc.assert(
    fc.asyncProperty(few, few, extent, extent, few, fc.boolean(), seeds, async (B, H, T, pairs, rest, shared, seed) => {
      await agree(() => turned({ B, H, T, pairs, rest, shared }, seed, layout), 3e-6);
    }),
  );
  await agree(() => turned({ B: 3, H: 4, T: 130, pairs: 16, rest: 32, shared: false }, 5, layout), 3e-6);
});

test.each(pairsOfLayouts)('from %s to %s: NaN and infinity stay in their pair', async (from, to) => {
  const sizes = { B: 2, H: 2, T: 7, pairs: 6, rest: 5, shared: true };
  await agree(
    () => rotatePairs(wildTensorOf(3, [2, 2, 7, 17], false) as tf.Tensor4D, tablesOf(sizes, 4), from, to),
    3e-6,
  );
});

test('the gradient is that of differences', async () => {
  await useSimd();
  const sizes = { B: 2, H: 2, T: 9, pairs: 5, rest: 2, shared: false };
  for (const [from, to] of pairsOfLayouts) {
    const [slope, difference] = tf.tidy(() => {
      const [u, direction, weights] = [1, 2, 3].map((seed) => tensorOf(seed, [2, 2, 9, 12]));
      const loss = (x: tf.Tensor) =>
        tf.sum(tf.mul(tf.square(rotatePairs(x as tf.Tensor4D, tablesOf(sizes, 4), from, to)), weights!)) as tf.Scalar;
      const along = (step: number) => loss(tf.add(u!, tf.mul(direction!, step))).dataSync()[0]!;
      const step = 1e-2;
      return [
        tf.sum(tf.mul(tf.grad(loss)(u!), direction!)).dataSync()[0]!,
        (along(step) - along(-step)) / (2 * step),
      ] as unknown as tf.TensorContainer;
    }) as unknown as [number, number];
    expect(Math.abs(slope - difference)).toBeLessThan(1e-3 * Math.abs(difference));
  }
});
