/** Worker threads: the same bits whatever their number, nothing spent when idle, a clean exit. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { afterAll, expect, test, vi } from 'vitest';
import { defaultThreads, type SimdBackend, useSimd } from '../src/index.ts';
import { compute } from './compute.ts';

afterAll(async () => {
  await useSimd();
});

test('one, two and three threads give the same bits', async () => {
  const results: Float32Array[][] = [];
  for (const threads of [1, 2, 3]) {
    expect((await useSimd({ threads })).threads).toBe(threads);
    for (let repeat = 0; repeat < 2; repeat++) {
      const values: Float32Array[] = [];
      tf.tidy(() => {
        for (const t of compute()) values.push(t.dataSync() as Float32Array);
      });
      results.push(values);
    }
  }
  for (const other of results.slice(1))
    for (const [i, values] of other.entries()) expect(Buffer.compare(bytes(values), bytes(results[0]![i]!))).toBe(0);
});
const bytes = (values: Float32Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

test('registers of 256 bits give the same bits', async () => {
  const program = fileURLToPath(new URL('./programs/digest.ts', import.meta.url));
  const digest = async (wide: string) => {
    const env = { ...process.env, POSENC_SIMD_WIDE: wide, POSENC_THREADS: '1' };
    return (await promisify(execFile)(process.execPath, ['--conditions=posenc-source', program], { env })).stdout;
  };
  expect(await digest('1')).toBe(await digest('0'));
});

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
  const program = fileURLToPath(new URL('./programs/idle.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=posenc-source', program], {
    timeout: 30_000,
  });
  expect(Number(stdout)).toBeLessThan(100);
});

test('after a reset of the engine there is another backend, with threads that run', async () => {
  await useSimd({ threads: 2 });
  const before = tf.backend();
  tf.engine().reset();
  expect(await useSimd({ threads: 2 })).toMatchObject({ threads: 2 });
  expect(tf.backend()).not.toBe(before);
  expect(tf.getBackend()).toBe('simd');
  expect(tf.tidy(() => Array.from(tf.matMul(tf.ones([70, 70]), tf.ones([70, 1])).dataSync()))).toEqual(
    Array(70).fill(70),
  );
});

test('POSENC_THREADS sets the number; anything but a whole number from 1 to 256 is refused', async () => {
  vi.stubEnv('POSENC_THREADS', '3');
  expect(defaultThreads()).toBe(3);
  expect((await useSimd()).threads).toBe(3);
  vi.stubEnv('POSENC_THREADS', 'many');
  expect(() => defaultThreads()).toThrow('POSENC_THREADS must be a whole number from 1 to 256, not "many"');
  vi.stubEnv('POSENC_THREADS', '257');
  expect(() => defaultThreads()).toThrow('POSENC_THREADS must be a whole number from 1 to 256, not "257"');
  vi.unstubAllEnvs();
  expect(defaultThreads()).toBeGreaterThanOrEqual(1);
  await expect(useSimd({ threads: 0 })).rejects.toThrow('threads must be a whole number from 1 to 256, not 0');
  await expect(useSimd({ threads: 257 })).rejects.toThrow('threads must be a whole number from 1 to 256, not 257');
});

test('POSENC_SIMD_WIDE is 0, 1 or nothing', async () => {
  for (const value of ['true', 'off', '2']) {
    vi.stubEnv('POSENC_SIMD_WIDE', value);
    await expect(useSimd()).rejects.toThrow(new RangeError(`POSENC_SIMD_WIDE must be 0 or 1, not "${value}"`));
  }
  for (const value of ['', '0']) {
    vi.stubEnv('POSENC_SIMD_WIDE', value);
    expect((await useSimd()).wide).toBe(false);
  }
  vi.unstubAllEnvs();
});

test('an unknown variant is refused, and the backend stays as it was', async () => {
  await useSimd({ threads: 2 });
  const before = tf.backend();
  await expect(useSimd({ threads: 2, variant: 'banana' as 'plain' })).rejects.toThrow(
    "variant must be 'relaxed' or 'plain', not 'banana'",
  );
  await useSimd({ threads: 2 });
  expect(tf.backend()).toBe(before);
});

test('after removeBackend it can be had again, with whatever options', async () => {
  for (const threads of [2, 1]) {
    await useSimd({ threads: 2 });
    tf.removeBackend('simd');
    expect(await useSimd({ threads })).toMatchObject({ threads });
    expect(tf.tidy(() => tf.add(tf.ones([2]), 1).dataSync()[0])).toBe(2);
  }
});

test('calls at the same time take turns: the last one decides', async () => {
  const variants = ['plain', 'relaxed', 'plain'] as const;
  const calls = [1, 2, 3].map((threads, i) => useSimd({ threads, variant: variants[i]! }));
  const refused = expect(useSimd({ threads: 0 })).rejects.toThrow(RangeError);
  expect(await Promise.all(calls)).toMatchObject([1, 2, 3].map((threads, i) => ({ threads, variant: variants[i] })));
  await refused;
  expect((tf.backend() as SimdBackend).pool.threads).toBe(3);
});

test('other registers are another backend; where V8 knows none they make no difference', async () => {
  const program = fileURLToPath(new URL('./programs/widen.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=posenc-source', program]);
  const known = process.arch === 'x64' && Number.parseFloat(process.versions.v8) >= 13.6;
  expect(JSON.parse(stdout)).toEqual({ replaced: known, kept: true, replacedBack: known });
});
