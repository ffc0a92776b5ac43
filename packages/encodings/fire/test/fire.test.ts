import { type Dims, drawParam, explicit, type Grid, range, type Site } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type FireConfig, fire, fireShare } from '../src/index.ts';
import { scalarMlp } from '../src/scalar-mlp.ts';

const dims = (causal = true, numLayers = 2): Dims => ({
  modelDim: 8,
  embeddingDim: 8,
  numLayers,
  numHeads: 3,
  numKvHeads: 1,
  headDim: 4,
  causal,
});
const parse = (input: object): FireConfig => fire.config.parse(input);
const create = (input: object, causal = true) => fire.create(parse(input), dims(causal));

/** A network that gives back its input, shares of 0 and more: head h multiplies by h + 1. */
const identity = (layers: number, c: number, factor: number): Record<string, tf.Tensor> => ({
  c: tf.fill([layers, 1], c),
  thresholdFactor: tf.fill([layers, 1], factor),
  hiddenWeight: tf.ones([layers, 1]),
  hiddenBias: tf.zeros([layers, 1]),
  outputWeight: tf.mul(tf.ones([layers, 1, 1]), tf.tensor3d([1, 2, 3], [1, 1, 3])),
});

function sharesOf(input: object, query: Grid, key: Grid, causal = true, c = 0.1, factor = 1): number[] {
  const encoding = create({ hiddenDim: 1, ...input }, causal);
  const hooks = encoding.hooks(identity(2, c, factor))({ query, key, seqLen: query });
  const bias = hooks.layer!(1).bias!({} as Site);
  expect(bias.shape).toEqual([Math.max(query.rows, key.rows), 3, query.cols, key.cols]);
  const [first, second] = tf.unstack(bias, 1) as [tf.Tensor, tf.Tensor];
  const data = Array.from(first.dataSync());
  second.dataSync().forEach((value, i) => {
    expect(value).toBeCloseTo(2 * data[i]!, 5);
  });
  return data;
}

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('config', () => {
  test('the published code’s numbers', () => {
    expect(parse({})).toEqual({ hiddenDim: 32, threshold: 512, normalizer: 'further', perLayer: true, eps: 1e-6 });
  });

  test.each([
    { mlpWidth: 32 },
    { hiddenDim: 0 },
    { threshold: 0 },
    { normalizer: 'key' },
    { perLayer: 1 },
    { eps: 0 },
    { type: 'fire' },
  ])('rejects %j', (input) => {
    expect(fire.config.safeParse(input).success).toBe(false);
  });
});

describe('parameters', () => {
  test.each([
    [{}, 2],
    [{ perLayer: false }, 1],
  ])('%j: %i sets, drawn as torch.nn.Linear draws', (input, layers) => {
    const uniform = (bound: number) => ({ kind: 'uniform', low: -bound, high: bound });
    expect(create({ hiddenDim: 16, ...input }).params).toEqual({
      c: { shape: [layers, 1], init: { kind: 'constant', value: 0.1 } },
      thresholdFactor: { shape: [layers, 1], init: { kind: 'constant', value: 1 } },
      hiddenWeight: { shape: [layers, 16], init: uniform(1) },
      hiddenBias: { shape: [layers, 16], init: uniform(1) },
      outputWeight: { shape: [layers, 16, 3], init: uniform(0.25) },
    });
  });

  test('a shared set is read once per forward, own ones in their layers', () => {
    for (const perLayer of [true, false]) {
      const encoding = create({ perLayer });
      const params = Object.fromEntries(
        Object.entries(encoding.params).map(([path, spec]) => [
          path,
          tf.tensor(drawParam(spec, 1, path), [...spec.shape]),
        ]),
      );
      const at = { query: range(5), key: range(5), seqLen: range(5) };
      const hooks = encoding.hooks(params)(at);
      const [first, second] = [0, 1].map((layer) => hooks.layer!(layer).bias!({} as Site)) as [tf.Tensor, tf.Tensor];
      expect(second === first).toBe(!perLayer);
      expect(tf.max(tf.abs(tf.sub(first, second))).dataSync()[0]! > 0.01).toBe(perLayer);
    }
  });
});

describe('shares', () => {
  test('numbers of the field: c 0.1, L 512', () => {
    const at = (query: number, key: number) => {
      const share = sharesOf({}, explicit([[query]]), explicit([[key]]))[0]!;
      expect(share).toBeCloseTo(fireShare(query - key, query), 6);
      return share;
    };
    expect(at(300, 299)).toBeCloseTo(0.024098, 6);
    expect(at(512, 511)).toBeCloseTo(0.024098, 6);
    expect(at(511, 0)).toBeCloseTo(0.999515, 6);
    expect(at(1024, 1023)).toBeCloseTo(0.020547, 6);
  });

  test('the first query, and distance 0 anywhere, have share 0', () => {
    expect(sharesOf({}, range(1), range(1))).toEqual([0]);
    expect(sharesOf({ threshold: 1e-9 }, range(1), range(1))).toEqual([0]);
    expect(sharesOf({}, range(1, 1_000_000), range(1, 1_000_000))).toEqual([0]);
  });

  test('bidirectional: the further position normalises, shares stay within 0 … 1, the same both ways', () => {
    const shares = sharesOf({ threshold: 4 }, range(40), range(40), false);
    shares.forEach((share, ij) => {
      const [i, j] = [Math.floor(ij / 40), ij % 40];
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThan(1);
      expect(share).toBeCloseTo(shares[j * 40 + i]!, 6);
      const psi = (x: number) => Math.log1p(0.1 * x);
      expect(share).toBeCloseTo(psi(Math.abs(i - j)) / (psi(Math.max(i, j, 4)) + 1e-6), 5);
    });
  });

  test('normalised by the query, a key far ahead of it has a share above 1; behind it nothing differs', () => {
    const further = sharesOf({ threshold: 4 }, range(40), range(40), false);
    const query = sharesOf({ threshold: 4, normalizer: 'query' }, range(40), range(40), false);
    expect(query[39]).toBeGreaterThan(3);
    query.forEach((share, ij) => {
      if (ij % 40 <= Math.floor(ij / 40)) expect(share).toBeCloseTo(further[ij]!, 6);
    });
  });

  test('each row of a batch has its own positions', () => {
    const [query, key] = [
      explicit([[3], [90]]),
      explicit([
        [1, 3],
        [50, 90],
      ]),
    ];
    const both = sharesOf({ threshold: 2 }, query, key);
    const alone = [0, 1].flatMap((b) =>
      sharesOf(
        { threshold: 2 },
        explicit([[query.data[b]!]]),
        explicit([Array.from(key.data.slice(2 * b, 2 * b + 2))]),
      ),
    );
    expect(both).toEqual(alone);
  });

  test('c and the threshold’s factor count as absolute values', () => {
    const at = [range(1, 20), range(21)] as const;
    expect(sharesOf({}, ...at, true, -0.1, -1)).toEqual(sharesOf({}, ...at, true, 0.1, 1));
  });

  test('gradients are finite for the first query, at distance 0 and where the threshold ends', () => {
    const encoding = create({ hiddenDim: 1, threshold: 4 });
    const params = identity(2, 0.1, 1);
    const names = Object.keys(params);
    const loss = (...tensors: tf.Tensor[]) => {
      const given = Object.fromEntries(names.map((name, i) => [name, tensors[i]!]));
      const hooks = encoding.hooks(given)({ query: range(6), key: range(6), seqLen: range(6) });
      return hooks.layer!(0).bias!({} as Site).sum();
    };
    tf.grads(loss)(Object.values(params)).forEach((gradient, i) => {
      const data = gradient.dataSync();
      expect([names[i], data.every(Number.isFinite)]).toEqual([names[i], true]);
      expect(Math.abs(data[0]!)).toBeGreaterThan(1e-3);
    });
  });
});

describe('the network', () => {
  const drawn = (shape: number[], seed: number) => tf.randomNormal(shape, 0, 1, 'float32', seed);
  const inputs = (n: number, width: number, heads: number) =>
    [drawn([n], 1), drawn([width], 2), drawn([width], 3), drawn([width, heads], 4)] as [
      tf.Tensor1D,
      tf.Tensor1D,
      tf.Tensor1D,
      tf.Tensor2D,
    ];
  const composed = (x: tf.Tensor, w1: tf.Tensor, b1: tf.Tensor, w2: tf.Tensor) =>
    tf.matMul(tf.relu(tf.add(tf.mul(x.reshape([-1, 1]), w1.reshape([1, -1])), b1)) as tf.Tensor2D, w2 as tf.Tensor2D);

  test.each([
    [1, 4],
    [7, 4],
    [8, 4],
    [9, 4],
    [9, 1000],
  ])('%i numbers in blocks of %i: values and gradients of the composed operations', (n, block) => {
    const given = inputs(n, 5, 3);
    const upstream = drawn([n, 3], 5);
    type Four = (x: tf.Tensor, w1: tf.Tensor, b1: tf.Tensor, w2: tf.Tensor) => tf.Tensor;
    const blocked: Four = (x, w1, b1, w2) =>
      scalarMlp(x as tf.Tensor1D, w1 as tf.Tensor1D, b1 as tf.Tensor1D, w2 as tf.Tensor2D, block);
    const through = (f: Four) => [
      f(...given),
      ...tf.grads((...args) => tf.sum(tf.mul(f(...(args as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor])), upstream)))(
        given,
      ),
    ];
    const expected = through(composed);
    through(blocked).forEach((tensor, i) => {
      expect(tensor.shape).toEqual(expected[i]!.shape);
      expect(tf.max(tf.abs(tf.sub(tensor, expected[i]!))).dataSync()[0]).toBeLessThan(1e-5);
    });
  });

  test('keeps no hidden layer: 256 × 256 pairs in blocks of 8192 take a third of the memory of the composed operations, forward and back', async () => {
    const given = inputs(256 * 256, 32, 2);
    const peak = async (f: typeof composed) => {
      const { peakBytes } = await tf.profile(() => {
        tf.tidy(() => {
          tf.grads((x, w1, b1, w2) => tf.sum(f(x!, w1!, b1!, w2!)))(given);
        });
      });
      return peakBytes - tf.memory().numBytes;
    };
    const whole = await peak(composed);
    const blocked = await peak((x, w1, b1, w2) =>
      scalarMlp(x as tf.Tensor1D, w1 as tf.Tensor1D, b1 as tf.Tensor1D, w2 as tf.Tensor2D, 8192),
    );
    expect(blocked).toBeLessThan(whole / 3);
  });

  test('leaves nothing behind', () => {
    const given = inputs(10, 5, 3);
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      tf.grads((x, w1, b1, w2) =>
        tf.sum(scalarMlp(x as tf.Tensor1D, w1 as tf.Tensor1D, b1 as tf.Tensor1D, w2 as tf.Tensor2D, 4)),
      )(given);
    });
    expect(tf.memory().numTensors).toBe(before);
  });
});
