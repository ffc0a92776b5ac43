import { createRegistry, type Dims, type LayerHooks, PosencError, range } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { decayBias, type FoxConfig, fox, logSigmoid } from '../src/index.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const dims: Dims = { modelDim: 8, embeddingDim: 8, numLayers: 3, numHeads: 2, numKvHeads: 1, headDim: 5, causal: true };
const registry = createRegistry([fox]);
const parse = (input: object) => registry.parse({ type: 'fox', ...input }) as FoxConfig;
const layer = (input: object, params: Record<string, tf.Tensor>, index = 0): LayerHooks =>
  fox.create(parse(input), dims).hooks(params)({ query: range(1), key: range(1), seqLen: range(1, 1) }).layer!(index);

describe('config', () => {
  test('the gate reads the token by default', () => {
    expect(fox.config.parse({})).toEqual({ gate: 'full' });
  });

  test.each([
    [{ gates: 'full' }, 'did you mean "gate"?'],
    [{ gate: 'fixed' }, '"gate" is "fixed"'],
    [{ decayTimeMin: 2, decayTimeMax: 64 }, 'the full gate starts at bias 0'],
    [{ decayTimeMax: 64 }, 'the full gate starts at bias 0'],
    [{ gate: 'bias-only', decayTimeMin: 2 }, 'goes with decayTimeMin'],
    [{ gate: 'bias-only', decayTimeMax: 64 }, 'goes with decayTimeMin'],
    [{ gate: 'bias-only', decayTimeMin: 0, decayTimeMax: 64 }, '"decayTimeMin" is 0'],
  ])('refuses %j', (input, words) => {
    expect(() => parse(input)).toThrow(PosencError);
    expect(() => parse(input)).toThrow(words);
  });

  test('a bidirectional stack is refused', () => {
    expect(() => registry.create({ type: 'fox', gate: 'full' }, { ...dims, causal: false })).toThrow(
      '"fox" needs a causal stack',
    );
  });
});

describe('parameters', () => {
  test('a gate per head and layer, at weights N(0, 0.02) and bias 0', () => {
    expect(fox.create(parse({}), dims).params).toEqual({
      weight: { shape: [3, 8, 2], init: { kind: 'normal', std: 0.02 } },
      bias: { shape: [3, 2], init: { kind: 'constant', value: 0 } },
    });
  });

  test('data independent: one number per head and layer, at 0 or at decay times', () => {
    expect(fox.create(parse({ gate: 'bias-only' }), dims).params).toEqual({
      bias: { shape: [3, 2], init: { kind: 'constant', value: 0 } },
    });
    const start = Array.from(decayBias(2, [2, 64]));
    expect(fox.create(parse({ gate: 'bias-only', decayTimeMin: 2, decayTimeMax: 64 }), dims).params).toEqual({
      bias: { shape: [3, 2], init: { kind: 'values', values: [...start, ...start, ...start] } },
    });
  });
});

describe('gates', () => {
  const x = tf.tensor3d(
    Array.from({ length: 16 }, (_, i) => Math.sin(i)),
    [1, 2, 8],
  );

  test('at their start they halve what lies before each token', () => {
    const hooks = layer({}, { weight: tf.zeros([3, 8, 2]), bias: tf.zeros([3, 2]) });
    const carried = hooks.carry!(x);
    expect(carried.shape).toEqual([1, 2, 2, 1]);
    carried.dataSync().forEach((value) => {
      expect(value).toBeCloseTo(-Math.LN2, 6);
    });
  });

  test('each layer has its own', () => {
    const bias = tf.tensor2d([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    for (const index of [0, 1, 2]) {
      const expected = [2 * index, 2 * index + 1].flatMap((b) => new Array(2).fill(-Math.log1p(Math.exp(-b))));
      layer({ gate: 'bias-only' }, { bias }, index).carry!(x)
        .dataSync()
        .forEach((value, i) => {
          expect(value).toBeCloseTo(expected[i]!, 6);
        });
    }
  });

  test('data independent gates are ALiBi with slope −log f', () => {
    const bias = tf.tensor2d([
      [0.5, -1],
      [0, 0],
      [0, 0],
    ]);
    const hooks = layer({ gate: 'bias-only' }, { bias });
    const carried = hooks.carry!(tf.zeros([1, 6, 8]));
    const q = tf.zeros<tf.Rank.R4>([1, 2, 4, 5]); // the last four of six tokens
    const forgotten = hooks.bias!({ q, carried } as Parameters<NonNullable<LayerHooks['bias']>>[0]).arraySync()[0]!;
    [0.5, -1].forEach((b, h) => {
      const slope = Math.log1p(Math.exp(-b));
      for (let i = 0; i < 4; i++)
        for (let j = 0; j <= i + 2; j++) expect(forgotten[h]![i]![j]).toBeCloseTo(-slope * (i + 2 - j), 5);
    });
  });

  test('the derivative of log σ at 0 is ½, though both of its terms have a corner there', () => {
    expect(
      tf
        .grad((u) => logSigmoid(u))(tf.tensor1d([0]))
        .dataSync()[0],
    ).toBe(0.5);
  });
});
