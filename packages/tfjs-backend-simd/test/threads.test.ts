/** Worker threads: the same bits whatever their number, nothing spent when idle, a clean exit. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { afterAll, expect, test, vi } from 'vitest';
import { attention } from '../../core/src/attention.ts';
import { layerNorm } from '../../core/src/kernels/norm.ts';
import { createMask } from '../../core/src/mask.ts';
import { planOffsets } from '../../core/src/offsets.ts';
import { range } from '../../core/src/positions.ts';
import { defaultThreads, useSimd } from '../src/index.ts';
import { tensorOf } from './agree.ts';

afterAll(async () => {
  await useSimd();
});

/** Everything whose work is shared between threads, at sizes that are shared. */
function compute(): tf.Tensor[] {
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
        offsets: planOffsets(range(200), range(200)),
      },
    );
  const large = tensorOf(7, [300, 2000]);
  const ids = tf.tensor1d(
    Int32Array.from({ length: 700 }, (_, i) => (i * i) % 50),
    'int32',
  );
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
  ];
}

test('one, two and three threads give the same bits', async () => {
  const results: Float32Array[][] = [];
  for (const threads of [1, 2, 3]) {
    expect((await useSimd({ threads })).threads).toBe(threads);
    for (let repeat = 0; repeat < 2; repeat++)
      results.push(tf.tidy(() => compute().map((t) => t.dataSync() as Float32Array) as never));
  }
  for (const other of results.slice(1))
    for (const [i, values] of other.entries()) expect(Buffer.compare(bytes(values), bytes(results[0]![i]!))).toBe(0);
});
const bytes = (values: Float32Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

test('thousands of small tasks in a row', async () => {
  await useSimd({ threads: 4 });
  const a = tf.ones([70, 70]);
  tf.tidy(() => {
    for (let i = 0; i < 5000; i++) {
      const product = tf.matMul(a, a);
      if (i % 500 === 0) expect(Array.from(product.dataSync())).toEqual(Array(4900).fill(70));
      product.dispose();
    }
  });
  a.dispose();
});

test('idle threads cost nothing, and the process ends by itself', async () => {
  const program = new URL('./programs/idle.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=posenc-source', program], {
    timeout: 30_000,
  });
  expect(Number(stdout)).toBeLessThan(100);
});

test('POSENC_THREADS sets the number; anything but a whole number from 1 is refused', async () => {
  vi.stubEnv('POSENC_THREADS', '3');
  expect(defaultThreads()).toBe(3);
  expect((await useSimd()).threads).toBe(3);
  vi.stubEnv('POSENC_THREADS', 'many');
  expect(() => defaultThreads()).toThrow('POSENC_THREADS must be a whole number from 1, not "many"');
  vi.unstubAllEnvs();
  expect(defaultThreads()).toBeGreaterThanOrEqual(1);
  await expect(useSimd({ threads: 0 })).rejects.toThrow('threads must be a whole number from 1, not 0');
});
