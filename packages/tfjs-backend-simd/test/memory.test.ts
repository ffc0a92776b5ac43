/** Tensors in one memory: nothing leaks, nothing is lost when it grows, and what the cpu backend computes stays right. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { attention } from '../../core/src/attention.ts';
import { layerNorm } from '../../core/src/kernels/norm.ts';
import { createMask } from '../../core/src/mask.ts';
import { createAllocator } from '../src/allocator.ts';
import { type SimdBackend, useSimd } from '../src/index.ts';
import { agree, tensorOf } from './agree.ts';

beforeAll(async () => {
  await useSimd();
});
const inUse = () => (tf.backend() as SimdBackend).allocator.bytesInUse;

test('blocks never overlap, are reused and merge', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 300_000 }), fc.nat()), { maxLength: 200 }), (steps) => {
      const memory = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
      const allocator = createAllocator(memory, 4096);
      const live: { address: number; bytes: number }[] = [];
      for (const [bytes, choice] of steps) {
        if (choice % 3 === 0 && live.length) {
          allocator.release(live.splice(choice % live.length, 1)[0]!.address);
          continue;
        }
        const address = allocator.allocate(bytes);
        expect(address % 64).toBe(0);
        expect(address + bytes).toBeLessThanOrEqual(memory.buffer.byteLength);
        for (const other of live)
          expect(address + bytes <= other.address || other.address + other.bytes <= address).toBe(true);
        live.push({ address, bytes: Math.max(1, bytes) });
      }
      for (const { address } of live) allocator.release(address);
      expect(allocator.bytesInUse).toBe(0);
      // One free block again: all of the memory can be had at once.
      expect(allocator.allocate(memory.buffer.byteLength - 4096)).toBe(4096);
    }),
  );
});

test('the limit is an error that says what was asked for and what is in use', () => {
  const allocator = createAllocator(new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true }), 4096);
  allocator.allocate(2 ** 20);
  expect(() => allocator.allocate(2 ** 32)).toThrow(/4096\.0 MiB were asked for, 1\.0 MiB are in use by 1 tensors/);
  expect(allocator.allocate(100)).toBeGreaterThan(0);
});

test('an operation at the limit throws, takes nothing and leaves the backend as it was', () => {
  const x = tf.ones([1000]);
  const before = [inUse(), tf.memory().numTensors];
  expect(() => tf.fill([2 ** 30], 1)).toThrow(
    /simd backend is out of memory: 4096\.0 MiB were asked for, .* are in use by/,
  );
  expect([inUse(), tf.memory().numTensors]).toEqual(before);
  expect(tf.tidy(() => x.sum().dataSync()[0])).toBe(1000);
  x.dispose();
});

const attend = (u: tf.Tensor) => {
  const [q, mask] = [u as tf.Tensor4D, createMask({ causal: true, numQueries: 60, numKeys: 60 })];
  return attention(q, q, q, {}, { mask, scoreScale: 1 });
};
const normalise = (u: tf.Tensor) => layerNorm(u, tf.ones([8]), tf.ones([8]), 1e-5);
const normaliseGrad = (x: tf.Tensor) => {
  const [mean, rstd] = [tf.zeros([120]), tf.ones([120])];
  return tf.engine().runKernel('LayerNormGrad', { dy: x, x, gain: tf.ones([8]), mean, rstd });
};

test.each<[string, (x: tf.Tensor) => unknown]>([
  ['attention', attend],
  ['layer norm', normalise],
  ['the gradient of layer norm', normaliseGrad],
  ['a matrix product', (x) => tf.matMul(x, x, false, true)],
  ['a sum along axes apart', (x) => tf.sum(x, [1, 3])],
  ['tile', (x) => tf.tile(x, [1, 2, 2, 2])],
  ['split', (x) => tf.split(x, 2, 1)],
  ['complex numbers, of the cpu backend', (x) => tf.complex(x, x)],
  ['a kernel of the cpu backend with two results', (x) => tf.topk(x, 3)],
])('%s: whichever allocation fails, what was made by then goes', (_, operation) => {
  const backend = tf.backend() as SimdBackend;
  const { allocator } = backend;
  const x = tensorOf(1, [1, 2, 60, 8]);
  const state = () => [inUse(), backend.numDataIds(), tf.memory().numTensors];
  const before = state();
  const { allocate } = allocator;
  let failures = 0;
  for (let complete = false; !complete; ) {
    let left = failures;
    allocator.allocate = (bytes) => {
      if (left-- > 0) return allocate(bytes);
      throw new Error('no memory');
    };
    try {
      tf.tidy(() => {
        operation(x);
      });
      complete = true;
    } catch (error) {
      expect((error as Error).message).toBe('no memory');
      failures++;
    } finally {
      allocator.allocate = allocate;
    }
    expect(state()).toEqual(before);
  }
  expect(failures).toBeGreaterThan(1);
  x.dispose();
});

test('what is disposed is used again: the memory does not grow', () => {
  const pass = () =>
    tf.tidy(() =>
      tf
        .fill([2 ** 21], 1)
        .add(1)
        .dispose(),
    );
  pass();
  const { bytesReserved } = (tf.backend() as SimdBackend).allocator;
  for (let i = 0; i < 50; i++) pass();
  expect((tf.backend() as SimdBackend).allocator.bytesReserved).toBe(bytesReserved);
});

test('what is written comes back, for every type; what was read stays after dispose', () => {
  for (const dtype of ['float32', 'int32', 'bool'] as const) {
    const values = [0, 1, 1, 0, 1];
    const x = tf.tensor1d(values, dtype);
    const read = x.dataSync();
    x.dispose();
    tf.dispose(tf.fill([100], 7));
    expect(Array.from(read)).toEqual(values);
    expect(read.buffer).toBeInstanceOf(ArrayBuffer);
  }
  tf.tidy(() => {
    expect(tf.tensor1d(['a', 'ö']).dataSync()).toEqual(['a', 'ö']);
    expect(Array.from(tf.complex([1, 2], [3, 4]).dataSync())).toEqual([1, 3, 2, 4]);
    expect(tf.zeros([0, 3]).dataSync()).toHaveLength(0);
  });
});

test('dispose frees; clones share', () => {
  const before = { bytes: inUse(), tensors: tf.memory().numTensors };
  const x = tf.ones([1000]);
  const held = inUse() - before.bytes;
  expect(held).toBe(4032);
  const y = tf.tidy(() => x.clone().reshape([10, 100]));
  expect(inUse() - before.bytes).toBe(held);
  x.dispose();
  expect(tf.tidy(() => y.sum().dataSync()[0])).toBe(1000);
  y.dispose();
  expect({ bytes: inUse(), tensors: tf.memory().numTensors }).toEqual(before);
  expect(tf.memory().unreliable).toBe(false);
});

test('a thousand training steps leave nothing behind', () => {
  const w = tf.variable(tensorOf(1, [20, 20]));
  const x = tensorOf(2, [30, 20]) as tf.Tensor2D;
  const step = () => {
    const { value, grads } = tf.variableGrads(() => tf.sum(tf.square(tf.matMul(x, w as tf.Tensor2D))), [w]);
    w.assign(tf.sub(w, tf.mul(grads[w.name]!, 1e-4)));
    tf.dispose(value);
  };
  tf.tidy(step);
  const before = [inUse(), tf.memory().numTensors];
  for (let i = 0; i < 1000; i++) tf.tidy(step);
  expect([inUse(), tf.memory().numTensors]).toEqual(before);
  tf.dispose([w, x]);
});

test('old tensors keep their values when the memory grows', () => {
  const x = tensorOf(1, [1000]);
  const values = Array.from(x.dataSync());
  const large = tf.zeros([(tf.backend() as SimdBackend).allocator.bytesReserved / 4]);
  expect(Array.from(x.dataSync())).toEqual(values);
  expect(x.add(0).dataSync()[0]).toBe(values[0]);
  tf.dispose([x, large]);
});

test('operations without a kernel here run on those of the cpu backend', async () => {
  await agree(
    () => [
      tf.cos(tensorOf(1, [7])),
      tf.conv2d(tensorOf(2, [1, 5, 5, 2]) as tf.Tensor4D, tensorOf(3, [2, 2, 2, 3]) as tf.Tensor4D, 1, 'same'),
      tf.cumsum(tensorOf(4, [3, 4], 'int32'), 1),
      tf.topk(tensorOf(5, [9]), 3).values,
      tf.real(tf.spectral.fft(tf.complex(tensorOf(6, [8]), tensorOf(7, [8])))),
      tf.einsum('bij,bjk->bik', tensorOf(1, [2, 3, 4]), tensorOf(2, [2, 4, 5])),
    ],
    1e-6,
  );
});

test('tensors move between backends', async () => {
  await useSimd();
  const x = tensorOf(3, [5, 6]);
  const values = Array.from(x.dataSync());
  await tf.setBackend('cpu');
  const y = tf.mul(x, 1);
  await useSimd();
  expect(Array.from(tf.add(x, tf.sub(y, y)).dataSync())).toEqual(values);
});
