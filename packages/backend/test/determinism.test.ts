/** Same inputs, same bits: within a process whatever ran before, and from process to process. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { expect, test } from 'vitest';
import { on, tensorOf } from './results.ts';

test.each(['simd', 'wasm'])('training on %s leaves the same bits in two processes', async (backend) => {
  const program = fileURLToPath(new URL('./programs/digest.ts', import.meta.url));
  const run = async () =>
    (await promisify(execFile)(process.execPath, ['--conditions=posenc-source', program, backend])).stdout.trim();
  const [first, second] = [await run(), await run()];
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toBe(first);
});

test('a product has the same bits whether its right operand was seen before or not', async () => {
  const results = await on('wasm', () => {
    const [a, b] = [tensorOf('a', [33, 70]), tensorOf('b', [70, 45])];
    return [...[1, 2, 3].map(() => tf.matMul(a, b)), tf.matMul(a, tf.clone(b))] as tf.Tensor[];
  });
  for (const result of results) expect(result).toEqual(results[0]);
});
