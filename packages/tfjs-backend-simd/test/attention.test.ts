/** The streaming kernel through core's attention, against its composed path on the cpu backend, with all gradients. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attention } from '../../core/src/attention.ts';
import { createMask } from '../../core/src/mask.ts';
import { planOffsets } from '../../core/src/offsets.ts';
import { range } from '../../core/src/positions.ts';
import { type SimdBackend, useSimd } from '../src/index.ts';
import { agree, numbers, seeds, tensorOf } from './agree.ts';
import { type Case, grid, run, tolerance } from './attend.ts';

const base: Case = { B: 2, H: 4, Hkv: 4, Tq: 60, Tk: 60, Dr: 8, Dv: 8 };

test.each<[string, Partial<Case>]>([
  ['everything visible', {}],
  ['causal', { mask: { causal: true } }],
  ['one block exactly', { Tq: 48, Tk: 48, mask: { causal: true } }],
  ['three blocks, heads of 32', { Tq: 131, Tk: 131, Dr: 32, Dv: 32, mask: { causal: true } }],
  ['sliding window', { Tq: 150, Tk: 150, mask: { causal: true, slidingWindow: 10 } }],
  ['sliding window on both sides', { Tq: 150, Tk: 150, mask: { slidingWindow: 20 } }],
  ['a window of one', { mask: { causal: true, slidingWindow: 1 } }],
  ['new queries after cached keys', { Tq: 5, Tk: 70, mask: { causal: true } }],
  ['one query', { Tq: 1, Tk: 70, mask: { causal: true } }],
  ['one query of odd width', { Tq: 1, Tk: 131, Dr: 13, Dv: 21, mask: { causal: true, slidingWindow: 60 } }],
  ['two queries, groups', { Tq: 2, Tk: 100, Hkv: 2, Dr: 32, Dv: 36, mask: { causal: true } }],
  ['three queries, bias, softcap', { Tq: 3, Tk: 100, biased: range(100), softcap: 1.3, mask: { causal: true } }],
  ['three queries, dropout', { Tq: 3, Tk: 60, dropout: 0.6 }],
  ['grouped queries', { H: 6, Hkv: 2, mask: { causal: true } }],
  ['odd widths, values of another width', { Dr: 13, Dv: 5, mask: { causal: true } }],
  ['softcap', { softcap: 0.7, mask: { causal: true } }],
  ['relative bias', { biased: range(60), mask: { causal: true } }],
  ['relative bias both ways, softcap, groups', { H: 4, Hkv: 2, Tq: 100, Tk: 100, biased: range(100), softcap: 1.3 }],
  ['a factor', { scale: 'number' }],
  ['a factor for each query', { scale: 'perQuery', mask: { causal: true } }],
  ['left padding', { mask: { causal: true, real: grid(2, 60, (b, t) => +(t >= 10 * b)) } }],
  ['padding for all rows alike', { mask: { real: grid(1, 60, (_, t) => +(t < 50)) } }],
  ['a row of padding only', { mask: { real: grid(2, 60, (b) => b) } }],
  ['packed', { mask: { causal: true, segments: grid(2, 60, (b, t) => Math.floor(t / (17 + b))) } }],
  ['bias of new queries after cached keys', { Tq: 5, Tk: 70, biased: range(70), mask: { causal: true } }],
  ['bias where positions start again', { biased: grid(2, 60, (b, t) => t % (17 + b)) }],
  ['bias where positions are far apart', { biased: grid(1, 60, (_, t) => (t * t) % 190) }],
  ['bias where all stand in one place', { biased: grid(1, 60, () => 3) }],
  ['dropout', { dropout: 0.3, mask: { causal: true } }],
  ['dropout, bias, softcap, groups', { H: 4, Hkv: 2, Tq: 50, Tk: 70, dropout: 0.6, biased: range(70), softcap: 1.3 }],
])('%s', async (_, changes) => {
  await agree(() => run({ ...base, ...changes }), tolerance);
});

test('all of it streams: no matrix of scores is made', async () => {
  await useSimd();
  const names = tf.getKernelsForBackend('simd').filter(({ kernelName }) => kernelName === 'Softmax');
  const [softmax] = names;
  const { kernelFunc } = softmax!;
  let calls = 0;
  softmax!.kernelFunc = (args) => {
    calls++;
    return kernelFunc(args);
  };
  try {
    const mask = { segments: grid(2, 60, (b, t) => Math.floor(t / (19 + b))), causal: true };
    const biased = grid(2, 60, (b, t) => t % (19 + b));
    tf.tidy(() => run({ ...base, mask, softcap: 2, biased, dropout: 0.1 }));
  } finally {
    softmax!.kernelFunc = kernelFunc;
  }
  expect(calls).toBe(0);
});

test('any sizes', async () => {
  const size = (max: number) => fc.integer({ min: 1, max });
  const lengths = fc.oneof(size(10), size(120));
  await fc.assert(
    fc.asyncProperty(
      ...([size(3), size(3), size(2), lengths, fc.nat({ max: 60 }), size(20), size(20), seeds] as const),
      async (B, Hkv, group, Tq, past, Dr, Dv, seed) => {
        const next = numbers(seed);
        const Tk = Tq + past;
        const mask = {
          causal: next() > 0,
          ...(next() > 0 && { slidingWindow: 1 + Math.floor((next() + 1) * 40) }),
          ...(next() > 0 && { real: grid(B, Tk, () => +(next() > -0.5)) }),
          ...(next() > 0 && { segments: grid(1, Tk, (_, t) => Math.floor(t / 11)) }),
        };
        const length = 1 + Math.floor((next() + 1) * 50);
        const rest = {
          ...(next() > 0 && { biased: next() > 0 ? range(Tk) : grid(B, Tk, (b, t) => (t + b) % length) }),
          ...(next() > 0 && { softcap: 2 }),
          ...(next() > 0.5 && { dropout: 0.4 }),
        };
        await agree(() => run({ B, H: Hkv * group, Hkv, Tq, Tk, Dr, Dv, mask, seed, ...rest }), tolerance);
      },
    ),
    { numRuns: 60 },
  );
});

test('nothing to attend to, or nobody who does', async () => {
  await useSimd();
  tf.tidy(() => {
    const zeros = (t: tf.Tensor) => expect(t.dataSync().every((x) => x === 0)).toBe(true);
    for (const sizes of [{ Tq: 0 }, { B: 0 }, { Tq: 0, Tk: 0 }] as const) {
      const c: Case = { ...base, ...sizes };
      const [y, dq, dk, dv] = run({ ...c, biased: range(c.Tk) });
      expect(y!.shape).toEqual([c.B, c.H, c.Tq, c.Dv]);
      for (const gradient of [dq, dk, dv]) zeros(gradient!);
    }
  });
});

test('scores far beyond the range of exp, NaN and infinity', async () => {
  await agree(() => {
    const q = tf.mul(tensorOf(1, [1, 1, 60, 4]), 1000) as tf.Tensor4D;
    return attention(
      q,
      tensorOf(2, [1, 1, 60, 4]) as tf.Tensor4D,
      tensorOf(3, [1, 1, 60, 4]) as tf.Tensor4D,
      {},
      { mask: createMask({ causal: true, numQueries: 60, numKeys: 60 }), scoreScale: 1 },
    );
  }, 1e-3);
  await useSimd();
  const values = tf.tidy(() => {
    const v = tf.buffer([1, 1, 60, 4], 'float32', tensorOf(3, [1, 1, 60, 4]).dataSync() as Float32Array);
    v.set(Number.NaN, 0, 0, 55, 0);
    const mask = createMask({ causal: true, numQueries: 60, numKeys: 60 });
    const [q, k] = [tensorOf(1, [1, 1, 60, 4]), tensorOf(2, [1, 1, 60, 4])] as tf.Tensor4D[];
    return attention(q!, k!, v.toTensor() as tf.Tensor4D, {}, { mask, scoreScale: 1 }).dataSync();
  });
  // Queries before 48 are in blocks that never meet the key.
  expect(values.subarray(0, 4 * 48).every(Number.isFinite)).toBe(true);
  expect(values[4 * 59]).toBeNaN();
});

const places = ['one query', 'one key', 'all keys', 'one bias', 'all biases'] as const;
test.each(places.flatMap((place) => [Number.NaN, Infinity, -Infinity].map((value) => [value, place] as const)))(
  '%d in %s is what it is for the composed path',
  async (value, place) => {
    const filled = (name: string, seed: number, shape: number[]) => {
      const data = Float32Array.from(tensorOf(seed, shape).dataSync());
      const width = shape.at(-1)!;
      if (place === `one ${name}`) data[Math.floor(data.length / width / 2) * width + 3] = value;
      if (place === `all ${name === 'bias' ? 'biases' : `${name}s`}`) data.fill(value);
      return tf.tensor(data, shape);
    };
    await agree(() => {
      const T = 60;
      const u = ['query', 'key', 'value'].map((name, i) => filled(name, i + 1, [1, 1, T, 4])) as tf.Tensor4D[];
      const plan = planOffsets(range(T), range(T));
      const table = filled('bias', 4, [1, plan.offsets.length]) as tf.Tensor2D;
      const f = (q: tf.Tensor4D, k: tf.Tensor4D, v: tf.Tensor4D, relativeBias: tf.Tensor2D) =>
        attention(q, k, v, { relativeBias: () => relativeBias }, { mask: {}, scoreScale: 1, offsets: plan });
      const y = f(u[0]!, u[1]!, u[2]!, table);
      const gradients = tf.grads((q, k, v, bias) =>
        tf.sum(f(q as tf.Tensor4D, k as tf.Tensor4D, v as tf.Tensor4D, bias as tf.Tensor2D)),
      )([...u, table]);
      return [y, ...gradients];
    }, tolerance);
  },
);

test('only a row without a visible key is zeros: NaN and -Infinity in all visible scores give NaN, with their gradients', async () => {
  await useSimd();
  const T = 100;
  const shape = [1, 1, T, 4] as [number, number, number, number];
  // Keys before 10 are padding, which causal queries before 10 see alone.
  const mask = createMask({ causal: true, numQueries: T, numKeys: T, real: grid(1, T, (_, t) => +(t >= 10)) });
  const plan = planOffsets(range(T), range(T));
  const rows = (bias: number, badQuery: number) =>
    tf.tidy(() => {
      const q = Float32Array.from(tensorOf(1, shape).dataSync());
      q.fill(badQuery, 4 * 70, 4 * 71);
      const row = tf.fill([1, plan.offsets.length], bias) as tf.Tensor2D;
      const f = (x: tf.Tensor4D) =>
        attention(
          x,
          tensorOf(2, shape) as tf.Tensor4D,
          tensorOf(3, shape) as tf.Tensor4D,
          { relativeBias: () => row },
          { mask, scoreScale: 1, offsets: plan },
        );
      const x = tf.tensor4d(q, shape);
      const kinds = (t: tf.Tensor) =>
        Array.from({ length: T }, (_, i) => {
          const values = Array.from(t.dataSync().slice(4 * i, 4 * i + 4));
          const zeros = values.every((y) => y === 0);
          return values.every(Number.isNaN) ? 'NaN' : zeros ? '0' : values.every(Number.isFinite) ? 'number' : 'mixed';
        }).join(' ');
      return [kinds(f(x)), kinds(tf.grad((u) => tf.sum(f(u as tf.Tensor4D)))(x))].join('\n').split('\n');
    }) as unknown as string[];
  const expected = (kind: (i: number) => string) =>
    Array.from({ length: T }, (_, i) => (i < 10 ? '0' : kind(i))).join(' ');
  const [y, dq] = rows(0, Number.NaN);
  expect(y).toBe(expected((i) => (i === 70 ? 'NaN' : 'number')));
  // The gradient of query 10, which sees one key, is 0 but for rounding.
  const others = (kinds: string) => kinds.split(' ').toSpliced(10, 1);
  expect(others(dq!)).toEqual(others(expected((i) => (i === 70 ? 'NaN' : 'number'))));
  for (const bias of [Number.NaN, -Infinity])
    expect(rows(bias, 1)).toEqual([expected(() => 'NaN'), expected(() => 'NaN')]);
});

test('memory grows with the length, not with its square', async () => {
  await useSimd();
  const { allocator } = tf.backend() as SimdBackend;
  const peak = (T: number) =>
    tf.tidy(() => {
      const q = tf.zeros([1, 2, T, 8]);
      const mask = createMask({ causal: true, numQueries: T, numKeys: T });
      const context = { mask, scoreScale: 1 };
      const attend = (u: tf.Tensor4D) => attention(u, u, u, {}, context);
      allocator.resetPeak();
      const before = allocator.bytesInUse;
      tf.grad((u) => tf.sum(attend(u as tf.Tensor4D)))(q).dataSync();
      return allocator.bytesAtPeak - before;
    }) as unknown as number;
  expect(peak(4096) / peak(2048)).toBeLessThan(2.1);
  // A matrix of scores would be 2 × 8192² × 4 bytes = 512 MiB.
  expect(peak(8192)).toBeLessThan(64 * 2 ** 20);
});
