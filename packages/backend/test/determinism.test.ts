/** Same inputs, same bits: within a process whatever ran before, and from process to process. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { expect, test } from 'vitest';
import { on, tensorOf } from './results.ts';

test('training leaves the same bits in two processes', async () => {
  const program = fileURLToPath(new URL('./programs/digest.ts', import.meta.url));
  const run = async () =>
    (await promisify(execFile)(process.execPath, ['--conditions=posenc-source', program])).stdout.trim();
  const [first, second] = [await run(), await run()];
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toBe(first);
});

test('a product has the same bits whether its right operand was packed before or not, and in a batch or alone', async () => {
  const results = await on('wasm', () => {
    const [a, b] = [tensorOf('a', [33, 70]), tensorOf('b', [70, 45])];
    const batch = (x: tf.Tensor) => tf.stack([x, x]);
    const together = tf.matMul(batch(a), batch(b));
    return [
      ...[1, 2, 3].map(() => tf.matMul(a, b)),
      tf.matMul(a, tf.clone(b)),
      tf.matMul(tf.transpose(a), tf.transpose(b), true, true),
      tf.reshape(tf.slice(together, [0, 0, 0], [1, -1, -1]), [33, 45]),
      tf.reshape(tf.slice(together, [1, 0, 0], [1, -1, -1]), [33, 45]),
    ] as tf.Tensor[];
  });
  for (const result of results) expect(result).toEqual(results[0]);
});
