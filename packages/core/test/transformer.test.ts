import type { Scalar, Tensor, Tensor2D, Tensor3D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type AnyEncoding,
  cacheTensors,
  compose,
  countParams,
  createParams,
  createTransformer,
  crossEntropy,
  dimsOf,
  disposeCache,
  disposeParams,
  type Encoding,
  explicit,
  fromLengths,
  type Grid,
  generate,
  holesOf,
  type LayerHooks,
  type ModelInput,
  type Params,
  PosencError,
  perLayer,
  range,
  sliceColumns,
  startCache,
  stream,
  type Transformer,
} from '../src/index.ts';
import { content, largest, model, nothing, ramp, slope, turn } from './fixtures.ts';

beforeAll(() => tf.setBackend('cpu'));

const tokens: Grid = explicit([
  [1, 2, 3, 4, 5, 6, 7, 8, 9],
  [9, 1, 8, 2, 7, 3, 6, 4, 5],
]);
const build = (plugin: AnyEncoding, changes: Partial<ModelInput> = {}): [Transformer, Params] => {
  const config = model(changes);
  const transformer = createTransformer(config, plugin.create(plugin.config.parse({}), dimsOf(config)));
  return [transformer, createParams(transformer.params, 3)];
};

function decode(transformer: Transformer, params: Params, cuts: number[]): Tensor3D {
  let cache = startCache(tokens.cols);
  const parts = cuts.map((end, i) => {
    const step = transformer.forward(params, { tokens: sliceColumns(tokens, i ? cuts[i - 1]! : 0, end) }, { cache });
    cache = step.cache!;
    return step.logits;
  });
  return tf.concat(parts, 1);
}

const every = { nothing, ramp, turn, slope, content };
const shapes: Record<string, Partial<ModelInput>> = {
  plain: {},
  'grouped queries, wide heads': { numHeads: 4, numKvHeads: 2, headDim: 5 },
  'post-norm, rms, swiglu, no biases': {
    norm: 'rmsnorm',
    normPlacement: 'post',
    activation: 'swiglu',
    attentionBias: 'none',
    mlpBias: false,
  },
  'parallel, q/k-norm, untied, head bias': {
    parallelResidual: true,
    qkNorm: true,
    tiedEmbeddings: false,
    headBias: true,
    attentionBias: 'qkv',
  },
  'window, softcaps, narrow embedding': {
    slidingWindow: 4,
    scoreSoftcap: 3,
    logitSoftcap: 5,
    embeddingDim: 7,
    embeddingNorm: true,
    embeddingScale: 'sqrtModelDim',
    activation: 'gelu-tanh',
  },
  'parallel after one norm, gains from 0, output bias, scaled logits': {
    parallelResidual: 'sharedNorm',
    zeroCenteredGain: true,
    attentionBias: 'output',
    activation: 'gelu',
    logitScale: 0.5,
  },
  'norms on outputs, q/k-norm of the whole projection': {
    norm: 'rmsnorm',
    normPlacement: 'output',
    qkNorm: 'projection',
    numHeads: 4,
    numKvHeads: 2,
    headDim: 5,
  },
  'norms before and on outputs, windows by layer': {
    normPlacement: 'both',
    slidingWindow: [3, null],
    activation: 'geglu-tanh',
  },
  'no first norm': { skipFirstNorm: true, embeddingNorm: true, norm: 'rmsnorm' },
  'parallel, post-norm': { parallelResidual: true, normPlacement: 'post' },
  'token types, transformed head, narrow embedding': {
    numTokenTypes: 2,
    headTransform: 'gelu',
    headBias: true,
    embeddingDim: 7,
    normPlacement: 'post',
  },
};

describe.each(Object.keys(shapes))('%s', (shape) => {
  it.each(Object.keys(every))('cached decoding in chunks of any size equals the full pass: %s', (name) => {
    const [transformer, params] = build(every[name as keyof typeof every], shapes[shape]);
    const full = transformer.forward(params, { tokens }).logits;
    expect(full.shape).toEqual([2, 9, 11]);
    for (const cuts of [[9], [1, 2, 3, 4, 5, 6, 7, 8, 9], [4, 5, 9], [8, 9]])
      expect(largest(decode(transformer, params, cuts), full)).toBeLessThan(2e-5);
  });

  it('trains every parameter', () => {
    const [transformer, params] = build(slope, shapes[shape]);
    const loss = () =>
      tf.mean(
        crossEntropy(transformer.forward(params, { tokens }).logits.reshape([-1, 11]) as Tensor2D, tokens.data),
      ) as Scalar;
    const { grads } = tf.variableGrads(loss, Object.values(params) as tf.Variable[]);
    for (const [path, variable] of Object.entries(params)) {
      const size = tf.max(tf.abs(grads[(variable as tf.Variable).name]!)).dataSync()[0]!;
      // Softmax cancels what is the same for all keys, so a key bias never matters (rotation aside).
      if (!path.endsWith('key.bias') || shapes[shape]!.qkNorm || shapes[shape]!.scoreSoftcap)
        expect([path, size > 1e-9]).toEqual([path, true]);
    }
  });
});

describe('the input', () => {
  it.each(Object.keys(every))('left padding changes nothing: %s', (name) => {
    const [transformer, params] = build(every[name as keyof typeof every]);
    const alone = transformer.forward(params, { tokens: explicit([[5, 6, 7, 8]]) }).logits;
    const padded = transformer.forward(params, {
      tokens: explicit([
        [0, 0, 5, 6, 7, 8],
        [1, 2, 3, 4, 5, 6],
      ]),
      mask: explicit([
        [0, 0, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 1],
      ]),
    }).logits;
    expect(largest(tf.slice(padded, [0, 2, 0], [1, 4, 11]), alone)).toBeLessThan(2e-5);
    expect(padded.dataSync().every(Number.isFinite)).toBe(true);

    const [first, rest] = [
      explicit([
        [0, 0, 5],
        [1, 2, 3],
      ]),
      explicit([
        [6, 7, 8],
        [4, 5, 6],
      ]),
    ];
    const start = transformer.forward(
      params,
      {
        tokens: first,
        mask: explicit([
          [0, 0, 1],
          [1, 1, 1],
        ]),
      },
      { cache: startCache([4, 6]) },
    );
    const next = transformer.forward(params, { tokens: rest }, { cache: start.cache! });
    expect(largest(next.logits, tf.slice(padded, [0, 3, 0], [2, 3, 11]))).toBeLessThan(2e-5);
  });

  it.each(Object.keys(every))('packed sequences equal separate ones: %s', (name) => {
    const [transformer, params] = build(every[name as keyof typeof every]);
    const { positions, segments } = fromLengths([[4, 3]]);
    const packed = transformer.forward(params, {
      tokens: explicit([[1, 2, 3, 4, 9, 8, 7]]),
      positions,
      segments,
    }).logits;
    const [a, b] = [
      [1, 2, 3, 4],
      [9, 8, 7],
    ].map((row) => transformer.forward(params, { tokens: explicit([row]) }).logits) as [Tensor3D, Tensor3D];
    expect(largest(packed, tf.concat([a, b], 1))).toBeLessThan(2e-5);
  });

  it('adds to each token the vector of its type, by default the first', () => {
    const [transformer, params] = build(ramp, { numTokenTypes: 3, tiedEmbeddings: false });
    const logits = (changes: object, types?: Grid) =>
      transformer.forward({ ...params, ...changes }, { tokens, ...(types && { types }) }).logits;
    const [words, types] = [params['embedding.tokens']!, params['embedding.types']!];
    const shifted = (t: number) => ({
      'embedding.tokens': tf.add(words, tf.slice(types, [t, 0], [1, 12])),
      'embedding.types': tf.zerosLike(types),
    });
    expect(largest(logits({}), logits(shifted(0)))).toBeLessThan(2e-5);
    expect(largest(logits({}, explicit([Array(9).fill(2)])), logits(shifted(2)))).toBeLessThan(2e-5);
    const mixed = logits({}, explicit([Array(9).fill(0), [0, 0, 0, 0, 1, 1, 1, 1, 1]]));
    expect(largest(tf.slice(mixed, [0, 0, 0], [1, 9, 11]), tf.slice(logits({}), [0, 0, 0], [1, 9, 11]))).toBe(0);
    expect(largest(tf.slice(mixed, [1, 0, 0], [1, 4, 11]), tf.slice(logits({}), [1, 0, 0], [1, 4, 11]))).toBe(0);
    expect(largest(mixed, logits({}))).toBeGreaterThan(1e-2);
    expect(() => logits({}, explicit([Array(9).fill(3)]))).toThrow(/token type 3 does not exist: allowed are 0 to 2/);
  });

  it('tells encodings the length of each token’s own sequence', () => {
    const seen: Grid[] = [];
    const spy = {
      ...nothing,
      create: () => ({
        ...nothing.create({}, dimsOf(model())),
        hooks: () => (at: { seqLen: Grid }) => {
          seen.push(at.seqLen);
          return {};
        },
      }),
    } as AnyEncoding;
    const [transformer, params] = build(spy);
    transformer.forward(params, {
      tokens: explicit([
        [0, 5, 6],
        [1, 2, 3],
      ]),
      mask: explicit([
        [0, 1, 1],
        [1, 1, 1],
      ]),
    });
    transformer.forward(params, { tokens: explicit([[1, 2, 3]]), ...fromLengths([[2, 1]]) });
    transformer.forward(params, { tokens: explicit([[1, 2, 3]]), positions: range(3, 10) });
    transformer.forward(params, { tokens: explicit([[1]]) }, { cache: startCache(77) });
    expect(seen.map((grid) => Array.from(grid.data))).toEqual([[2, 2, 2, 3, 3, 3], [2, 2, 1], [13, 13, 13], [77]]);
  });

  const refused = (
    run: (transformer: Transformer, params: Params) => unknown,
    message: RegExp,
    plugin: AnyEncoding = ramp,
  ) => {
    const [transformer, params] = build(plugin);
    expect(() => run(transformer, params)).toThrow(PosencError);
    expect(() => run(transformer, params)).toThrow(message);
  };
  it('refuses what cannot be served, before any kernel runs', () => {
    refused(
      (t, p) => t.forward(p, { tokens: explicit([[1, 11]]) }),
      /token id 11 is outside the vocabulary: allowed are 0 to 10/,
    );
    refused((t, p) => t.forward(p, { tokens: explicit([[]]) }), /no tokens/);
    refused(
      (t, p) => t.forward(p, { tokens, positions: range(9, 60) }),
      /position 68 is beyond this encoding: it is defined for 0 to 63/,
    );
    refused((t, p) => t.forward(p, { tokens, positions: range(9, -1) }), /position -1 is negative/);
    refused(
      (t, p) => t.forward(p, { tokens, types: range(9) }),
      /this model knows no token types: leave `types` out, or set numTokenTypes/,
    );
    refused((t, p) => t.forward(p, { tokens, mask: range(8) }), /mask is \[1, 8\] but tokens are \[2, 9\]/);
    refused(
      (t, p) => t.forward(p, { tokens }, { cache: startCache(8) }),
      /position 8 outgrows this decoding session, opened for 8 tokens/,
    );
    expect(() => build(content, { causal: false })).toThrow(/needs a causal stack/);
  });
});

describe('the stack', () => {
  it('without positions and causality is equivariant to permutations; with causality it is not', () => {
    const order = [3, 1, 4, 0, 2];
    const shuffle = (x: Tensor3D) => tf.gather(x, order, 1);
    for (const causal of [false, true]) {
      const [transformer, params] = build(nothing, { causal });
      const row = [1, 2, 3, 4, 5];
      const straight = transformer.forward(params, { tokens: explicit([row]) }).logits;
      const permuted = transformer.forward(params, { tokens: explicit([order.map((i) => row[i]!)]) }).logits;
      const moved = largest(shuffle(straight), permuted);
      if (causal) expect(moved).toBeGreaterThan(1e-2);
      else expect(moved).toBeLessThan(2e-5);
    }
  });

  it('draws parameters by name: an encoding added does not move the others', () => {
    const [, a] = build(nothing);
    const [, b] = build(slope);
    for (const path of Object.keys(a)) expect(largest(a[path]!, b[path]!)).toBe(0);
    expect(Object.keys(b).filter((path) => !(path in a))).toEqual(['encoding.slopes']);
    const [transformer] = build(slope);
    expect(countParams(transformer.params)).toBe(
      11 * 12 + 2 * (4 * (144 + 12) + 4 * 12 + 2 * 12 * 48 + 48 + 12) + 24 + 3,
    );
  });

  it('leaks no tensor, with a cache or without', () => {
    const [transformer, params] = build(content);
    const before = tf.memory().numTensors;
    transformer.forward(params, { tokens }).logits.dispose();
    const { logits, cache } = transformer.forward(params, { tokens }, { cache: startCache(9) });
    expect(tf.memory().numTensors).toBe(before + 1 + cacheTensors(cache!).length);
    logits.dispose();
    disposeCache(cache!);
    expect(tf.memory().numTensors).toBe(before);
    disposeParams(params);
  });

  it('drops out only when given a stream, and repeats for the same one', () => {
    const [transformer, params] = build(nothing, { dropout: 0.5 });
    const run = (name?: string) =>
      transformer.forward(params, { tokens }, name ? { random: stream(1, name) } : {}).logits;
    expect(largest(run('a'), run('a'))).toBe(0);
    expect(largest(run('a'), run('b'))).toBeGreaterThan(1e-3);
    expect(largest(run(), build(nothing)[0].forward(params, { tokens }).logits)).toBe(0);
  });
});

describe('options', () => {
  const logitsOf = (changes: Partial<ModelInput>, edit: (params: Params) => Params = (params) => params) => {
    const [transformer, params] = build(turn, changes);
    return transformer.forward(edit(params), { tokens }).logits;
  };
  const same = (a: Tensor3D, b: Tensor3D) => expect(largest(a, b)).toBeLessThan(2e-5);
  const other = (a: Tensor3D, b: Tensor3D) => expect(largest(a, b)).toBeGreaterThan(1e-2);

  it('a window for each layer, repeating; null is none', () => {
    same(logitsOf({ slidingWindow: [4] }), logitsOf({ slidingWindow: 4 }));
    same(logitsOf({ slidingWindow: [4, 4, 1] }), logitsOf({ slidingWindow: 4 }));
    same(logitsOf({ slidingWindow: [null] }), logitsOf({}));
    other(logitsOf({ slidingWindow: [4, null] }), logitsOf({ slidingWindow: [null, 4] }));
    // Two layers of windows 2 and 3: what reaches the last token is at most 1 + 2 tokens back.
    const last = (row: number[]) => {
      const [transformer, params] = build(turn, { slidingWindow: [2, 3] });
      return tf.slice(transformer.forward(params, { tokens: explicit([row]) }).logits, [0, 5, 0], [1, 1, 11]);
    };
    expect(largest(last([1, 2, 3, 4, 5, 6]), last([1, 9, 3, 4, 5, 6]))).toBe(0);
    expect(largest(last([1, 2, 3, 4, 5, 6]), last([1, 2, 9, 4, 5, 6]))).toBeGreaterThan(1e-3);
    expect(() => model({ slidingWindow: [] })).toThrow(/slidingWindow/);
  });

  const editing = (ending: string, edit: (tensor: tf.Tensor) => tf.Tensor) => (params: Params) =>
    Object.fromEntries(
      Object.entries(params).map(([path, tensor]) => [path, path.endsWith(ending) ? edit(tensor) : tensor]),
    );

  it('gains stored from 0 are gains stored from 1, less 1', () => {
    const changes = { norm: 'rmsnorm', qkNorm: true } as const;
    const louder = editing('.gain', (gain) => tf.add(gain, 0.3));
    same(logitsOf({ ...changes, zeroCenteredGain: true }), logitsOf(changes));
    same(logitsOf({ ...changes, zeroCenteredGain: true }, louder), logitsOf(changes, louder));
    other(logitsOf(changes, louder), logitsOf(changes));
  });

  it('logits scaled before they are capped', () => {
    same(logitsOf({ logitScale: 0.5 }), tf.mul(logitsOf({}), 0.5));
    same(logitsOf({ logitScale: 0.5, logitSoftcap: 2 }), tf.mul(tf.tanh(tf.mul(logitsOf({}), 0.25)), 2) as Tensor3D);
  });

  it('without the first norm, the embedding’s stands in for it', () => {
    // A norm of what has just been normed, with a gain of 1, changes nothing but by its eps.
    const changes = { embeddingNorm: true, normEps: 1e-12 };
    same(logitsOf({ ...changes, skipFirstNorm: true }), logitsOf(changes));
    other(logitsOf({ skipFirstNorm: true }), logitsOf({}));
    const [transformer] = build(turn, { skipFirstNorm: true });
    expect(Object.keys(transformer.params).filter((path) => path.endsWith('attention.norm.gain'))).toEqual([
      'layers.1.attention.norm.gain',
    ]);
    expect(() => model({ skipFirstNorm: true, normPlacement: 'both' })).toThrow(
      /set normPlacement to "pre", not "both"/,
    );
  });

  it('one norm for both sublayers is two norms with the same gain', () => {
    same(logitsOf({ parallelResidual: 'sharedNorm' }), logitsOf({ parallelResidual: true }));
    expect(() => model({ parallelResidual: 'sharedNorm', normPlacement: 'post' })).toThrow(
      /"sharedNorm" is a norm before both sublayers: set normPlacement to "pre"/,
    );
    const [shared] = build(turn, { parallelResidual: 'sharedNorm' });
    expect(Object.keys(shared.params).filter((path) => path.startsWith('layers.0') && path.includes('norm'))).toEqual([
      'layers.0.attention.norm.gain',
      'layers.0.attention.norm.bias',
    ]);
  });

  it.each([
    ['output', '.norm.gain'],
    ['both', '.outputNorm.gain'],
  ] as const)(
    'norms on the outputs (%s): gains of 0 silence every sublayer, so depth no longer matters',
    (normPlacement, gain) => {
      const changes = { normPlacement, normBias: false };
      const silent = editing(gain, (tensor) => tf.zerosLike(tensor));
      expect(largest(logitsOf(changes, silent), logitsOf({ ...changes, numLayers: 1 }, silent))).toBe(0);
      other(logitsOf(changes), logitsOf({ ...changes, numLayers: 1 }));
    },
  );
});

describe('the algebra', () => {
  it('compose adds up, perLayer takes turns, and both decode like any encoding', () => {
    const config = model({ numLayers: 3 });
    const dims = dimsOf(config);
    const [rotary, biased, reader] = [
      turn.create({ speed: 1 }, dims),
      slope.create({}, dims),
      content.create({}, dims),
    ];
    for (const member of [
      compose([rotary, biased, reader]),
      perLayer([rotary, nothing.create({}, dims), reader], [0, 1, 2], dims),
      compose(
        [ramp.create({ numPositions: 9 }, dims), reader, reader].map((e, i) =>
          i === 2
            ? {
                ...e,
                hooks: () => () => ({
                  layer: () => ({ carry: (x: Tensor3D) => tf.ones([x.shape[0], 3, x.shape[1], 1]) }),
                }),
              }
            : e,
        ),
      ),
    ]) {
      const transformer = createTransformer(config, member);
      const params = createParams(transformer.params, 1);
      const full = transformer.forward(params, { tokens }).logits;
      expect(largest(decode(transformer, params, [3, 4, 9]), full)).toBeLessThan(2e-5);
    }
    expect(compose([rotary, reader]).traits).toMatchObject({ requiresCausal: true, shiftInvariant: false });
    expect(Object.keys(compose([biased, biased]).params)).toEqual(['0.slopes', '1.slopes']);
  });

  it('what is infused reaches queries and keys, with their norms, and no values', () => {
    const config = model({ qkNorm: true });
    const dims = dimsOf(config);
    const vector = tf.linspace(-1, 1, config.modelDim);
    const infused: Encoding = {
      ...nothing.create({}, dims),
      hooks: () => () => ({ layer: () => ({ infuse: (x) => tf.add(x, vector) as Tensor3D }) }),
    };
    expect(holesOf(infused, dims)).toEqual(['infuse']);
    const logits = (encoding: Encoding, edit: (path: string, tensor: Tensor) => Tensor) => {
      const transformer = createTransformer(config, encoding);
      const params = Object.entries(createParams(transformer.params, 1));
      return transformer.forward(Object.fromEntries(params.map(([path, t]) => [path, edit(path, t)])), { tokens })
        .logits;
    };
    // The same vector in every token is a bias: W (x + vector) = W x + W vector.
    const transformer = createTransformer(config, nothing.create({}, dims));
    const weights = createParams(transformer.params, 1);
    const biased = (path: string, tensor: Tensor) => {
      const [, at] = /^(.*attention\.(?:query|key))\.bias$/.exec(path) ?? [];
      if (!at) return tensor;
      const weight = weights[`${at}.weight`] as Tensor2D;
      return tf.add(tensor, tf.matMul(vector.expandDims<Tensor2D>(0), weight).squeeze([0]));
    };
    const same = (_: string, tensor: Tensor) => tensor;
    const plain = logits(nothing.create({}, dims), same);
    expect(largest(logits(infused, same), logits(nothing.create({}, dims), biased))).toBeLessThan(1e-5);
    expect(largest(logits(infused, same), plain)).toBeGreaterThan(0.01);

    const twice = (): LayerHooks => ({ infuse: (x) => tf.mul(x, 2) as Tensor3D });
    const doubled: Encoding = { ...infused, hooks: () => () => ({ layer: twice }) };
    const x = tf.ones<tf.Rank.R3>([1, 1, config.modelDim]);
    const at = { query: range(1), key: range(1), seqLen: range(1) };
    const both = compose([infused, doubled]).hooks({})(at).layer!(0).infuse!(x); // in order
    expect(largest(both, tf.mul(tf.add(x, vector), 2))).toBe(0);
  });

  it('composing with nothing is the identity; a layer’s own member decides', () => {
    const config = model();
    const dims = dimsOf(config);
    const logits = (e: Parameters<typeof createTransformer>[1]) => {
      const transformer = createTransformer(config, e);
      return transformer.forward(createParams(transformer.params, 1), { tokens }).logits;
    };
    const rotary = turn.create({ speed: 1 }, dims);
    expect(largest(logits(compose([rotary, nothing.create({}, dims)])), logits(rotary))).toBe(0);
    expect(largest(logits(perLayer([rotary], [0], dims)), logits(rotary))).toBe(0);
    expect(largest(logits(perLayer([rotary, nothing.create({}, dims)], [0, 1], dims)), logits(rotary))).toBeGreaterThan(
      1e-3,
    );
  });

  it('refuses what has no meaning', () => {
    const dims = dimsOf(model());
    expect(() => perLayer([ramp.create({ numPositions: 9 }, dims)], [0], dims)).toThrow(
      /member 0 adds vectors to the embeddings/,
    );
    expect(() => perLayer([nothing.create({}, dims)], [0, 1], dims)).toThrow(
      /pattern \[0,1\] must be .* indices 0 to 0/,
    );
    const two = compose([content.create({}, dims), content.create({}, dims)]);
    expect(() => two.hooks({})({ query: range(1), key: range(1), seqLen: range(1) }).layer!(0)).toThrow(
      /2 members fill "mix"/,
    );
  });
});

describe('generate', () => {
  it('gives the same greedy tokens with a cache and re-reading, and stops at a token', () => {
    const [transformer, params] = build(turn);
    const before = tf.memory().numTensors;
    const cached = generate(transformer, params, [1, 2, 3], { maxNewTokens: 6 });
    expect(cached).toHaveLength(6);
    expect(generate(transformer, params, [1, 2, 3], { maxNewTokens: 6, seqLen: 'grow' })).toEqual(cached);
    expect(generate(transformer, params, [1, 2, 3], { maxNewTokens: 6, stopToken: cached[0] })).toEqual([cached[0]]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('samples from its stream', () => {
    const [transformer, params] = build(turn);
    const sample = (name: string, topK?: number) =>
      generate(transformer, params, [1], { maxNewTokens: 8, temperature: 2, topK, random: stream(1, name) });
    expect(sample('a')).toEqual(sample('a'));
    expect(sample('a')).not.toEqual(sample('b'));
    expect(sample('a', 1)).toEqual(generate(transformer, params, [1], { maxNewTokens: 8 }));
    expect(() => generate(transformer, params, [], { maxNewTokens: 1 })).toThrow(/prompt is empty/);
  });
});
