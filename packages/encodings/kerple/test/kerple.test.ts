import { type Dims, drawParam, type LayerHooks, PosencError, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type KerpleConfig, kerple, kerpleKernel } from '../src/index.ts';
import { withinTwo } from '../src/kernels.ts';

const dims = (numHeads: number, causal = true): Dims => ({
  modelDim: 8,
  embeddingDim: 8,
  numLayers: 3,
  numHeads,
  numKvHeads: 1,
  headDim: 4,
  causal,
});
const parse = (input: object): KerpleConfig => kerple.config.parse(input);
const create = (input: object, numHeads = 2, causal = true) => kerple.create(parse(input), dims(numHeads, causal));
const layerOf = (input: object, params: Readonly<Record<string, tf.Tensor>>, length = 4, layer = 0): LayerHooks => {
  const at = { query: range(length), key: range(length), seqLen: range(length) };
  return create(input).hooks(params)(at).layer!(layer);
};

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('config', () => {
  test('the logarithm, as a bias, unless asked for another', () => {
    expect(parse({})).toEqual({ bias: 'log', weight: 'none' });
  });

  test.each([{ kernel: 'log' }, { bias: 'linear' }, { weight: true }, { type: 'kerple' }])('rejects %j', (input) => {
    expect(kerple.config.safeParse(input).success).toBe(false);
  });

  test('nothing at all is refused', () => {
    const { error } = kerple.config.safeParse({ bias: 'none' });
    expect(error!.issues[0]).toMatchObject({ path: ['bias'], message: expect.stringContaining('nothing is left') });
  });
});

describe('parameters', () => {
  test.each([
    [{}, ['bias.alpha', 'bias.beta']],
    [{ bias: 'power' }, ['bias.alpha', 'bias.gamma']],
    [{ bias: 'log3' }, ['bias.alpha', 'bias.beta', 'bias.gamma']],
    [{ bias: 'none', weight: 'power' }, ['weight.alpha', 'weight.gamma']],
    [{ bias: 'power', weight: 'log' }, ['bias.alpha', 'bias.gamma', 'weight.alpha', 'weight.beta']],
  ])('%j has %j, one number per head, for all layers', (input, names) => {
    const { params } = create(input, 5);
    expect(Object.keys(params)).toEqual(names);
    for (const { shape } of Object.values(params)) expect(shape).toEqual([5]);
  });

  test('start as the authors draw theirs: exponents and factors of logarithms from U(0, 2), the rest from U(0, 1)', () => {
    const bounds: Record<string, number> = {
      'log bias.alpha': 2,
      'log bias.beta': 1,
      'power bias.alpha': 1,
      'power bias.gamma': 2,
    };
    const many = 20_000;
    for (const [name, bound] of Object.entries(bounds)) {
      const [bias, path] = name.split(' ') as [string, string];
      const drawn = drawParam(create({ bias }, many).params[path]!, 1, path);
      // What the kernel sees is the number itself.
      const used = path.endsWith('gamma') ? withinTwo(tf.tensor1d(drawn)).dataSync() : drawn.map(Math.abs);
      drawn.forEach((value, i) => {
        expect(Math.abs(used[i]! - value)).toBeLessThan(1e-6);
      });
      for (const quarter of [0, 1, 2, 3]) {
        const share = drawn.filter((value) => Math.floor((4 * value) / bound) === quarter).length / many;
        expect(Math.abs(share - 0.25)).toBeLessThan(0.015); // five standard deviations
      }
    }
  });

  test('γ comes back from either bound, with slope 1 or −1 everywhere', () => {
    const theta = tf.tensor1d([0.5, 1.75, 2.25, 3.5, 4.5, 6.25, -0.5, -2.25, -4.25, 0, 2]);
    expect(Array.from(withinTwo(theta).dataSync(), Math.abs)).toEqual([
      0.5, 1.75, 1.75, 0.5, 0.5, 1.75, 0.5, 1.75, 0.25, 0, 2,
    ]);
    const slopes = tf.grad(withinTwo)(theta).dataSync();
    expect(Array.from(slopes).slice(0, 9)).toEqual([1, 1, -1, -1, 1, -1, -1, 1, -1]);
    expect(Array.from(slopes, Math.abs)).toEqual(new Array(11).fill(1));
  });

  test('out of bounds in training, they act as their reflection and still learn', () => {
    const offsets = Int32Array.of(-5, -1, 0, 3);
    const bias = (alpha: tf.Tensor, gamma: tf.Tensor) =>
      layerOf({ bias: 'power' }, { 'bias.alpha': alpha, 'bias.gamma': gamma }).relativeBias!(offsets);
    const inside = bias(tf.tensor1d([0.5, 0.25]), tf.tensor1d([1.5, 0.75])).dataSync();
    const outside = bias(tf.tensor1d([-0.5, 0.25]), tf.tensor1d([2.5, -0.75])).dataSync();
    inside.forEach((value, i) => {
      expect(outside[i]).toBeCloseTo(value, 6);
    });
    const gradients = tf.grads((a, g) => bias(a, g).sum())([tf.tensor1d([-0.5, 0.25]), tf.tensor1d([2.5, -0.75])]);
    for (const gradient of gradients)
      for (const value of gradient.dataSync()) expect(Math.abs(value)).toBeGreaterThan(0.1);
  });
});

describe('distance 0', () => {
  test.each(['log', 'power', 'log3'])('%s: the kernel and all its gradients are 0', (bias) => {
    const { params } = create({ bias });
    const names = Object.keys(params);
    const at = (...tensors: tf.Tensor[]) =>
      layerOf({ bias }, Object.fromEntries(names.map((name, i) => [name, tensors[i]!]))).relativeBias!(
        Int32Array.of(0),
      );
    const values = names.map(() => tf.tensor1d([0.5, 1.25]));
    expect(Array.from(at(...values).dataSync(), Math.abs)).toEqual([0, 0]);
    const gradients = tf.grads((...tensors) => at(...tensors).sum())(values);
    for (const gradient of gradients) expect(Array.from(gradient.dataSync(), Math.abs)).toEqual([0, 0]);
  });

  test('an exponent of 0, and a 0 factor, are no trouble either', () => {
    const zero = tf.tensor1d([0, 0]);
    const bias = (alpha: tf.Tensor, gamma: tf.Tensor) =>
      layerOf({ bias: 'power' }, { 'bias.alpha': alpha, 'bias.gamma': gamma }).relativeBias!(Int32Array.of(-3, 0));
    expect(Array.from(bias(tf.tensor1d([1, 2]), zero).dataSync(), (v) => v + 0)).toEqual([-1, 0, -2, 0]);
    for (const gradient of tf.grads((a, g) => bias(a, g).sum())([zero, zero]))
      expect(gradient.dataSync().every(Number.isFinite)).toBe(true);
  });
});

describe('hooks', () => {
  const numbers = (names: readonly string[]) =>
    Object.fromEntries(names.map((name, i) => [name, tf.tensor1d([0.25 + i / 8, 1 + i / 8])]));

  test('the same numbers in every layer, and for both sides', () => {
    const params = numbers(['bias.alpha', 'bias.beta']);
    const offsets = Int32Array.of(-3, 3);
    const [first, last] = [0, 2].map((layer) => layerOf({}, params, 4, layer).relativeBias!(offsets).dataSync());
    expect(last).toEqual(first);
    expect([first![0], first![2]]).toEqual([first![1], first![3]]);
  });

  test('a weight multiplies: 1 for the token itself, less the further away', () => {
    const hooks = layerOf({ bias: 'none', weight: 'power' }, numbers(['weight.alpha', 'weight.gamma']), 3);
    expect(Object.keys(hooks)).toEqual(['scale']);
    const scale = hooks.scale as tf.Tensor4D;
    expect(scale.shape).toEqual([1, 2, 3, 3]);
    const head = Array.from(scale.dataSync()).slice(0, 9);
    const row = kerpleKernel('power', { alpha: 0.25, gamma: 0.375 }, [0, 1, 2]).map(Math.exp);
    [0, 1, 2, 1, 0, 1, 2, 1, 0].forEach((distance, i) => {
      expect(head[i]).toBeCloseTo(row[distance]!, 6);
    });
  });

  test('no tensor is leaked', () => {
    const params = numbers(['bias.alpha', 'bias.beta', 'weight.alpha', 'weight.gamma']);
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      layerOf({ weight: 'power' }, params).relativeBias!(Int32Array.of(-1, 0));
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('kerpleKernel', () => {
  test('numbers of the field: log(1, 0.5), power(0.2, 1.5)', () => {
    const log = kerpleKernel('log', { alpha: 1, beta: 0.5 }, [0, 1, 2, 16, -512]);
    [0, -0.405465, -Math.LN2, -2.197225, -5.549076].forEach((value, i) => {
      expect(log[i]).toBeCloseTo(value, 6);
    });
    const power = kerpleKernel('power', { alpha: 0.2, gamma: 1.5 }, [0, 1, -4, 16]);
    [0, -0.2, -1.6, -12.8].forEach((value, i) => {
      expect(power[i]).toBeCloseTo(value, 12);
    });
  });

  test.each([
    ['log', { alpha: 1 }, 'beta is NaN'],
    ['log', { alpha: -1, beta: 1 }, 'alpha is -1'],
    ['power', { alpha: 1, gamma: 2.5 }, 'from 0 to 2'],
  ] as const)('%s with %j is refused', (kernel, numbers, words) => {
    expect(() => kerpleKernel(kernel, numbers, [1])).toThrow(PosencError);
    expect(() => kerpleKernel(kernel, numbers, [1])).toThrow(words);
  });
});
