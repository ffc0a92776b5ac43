import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import {
  createParams,
  createRegistry,
  createTransformer,
  defineEncoding,
  dimsOf,
  type Encoding,
  encoding,
  explicit,
  type Hooks,
  type LayerHooks,
  PosencError,
  range,
  startCache,
  z,
} from '../src/index.ts';
import { model, traits } from './fixtures.ts';

/** Two layers of 4 heads with 2 key/value heads, rows of 2 × 5 tokens. */
const config = model({ numHeads: 4, numKvHeads: 2, headDim: 6, modelDim: 10, embeddingDim: 7, numLayers: 2 });
const [batch, length] = [2, 5];
const input = { tokens: explicit([new Array(length).fill(1), new Array(length).fill(2)]) };

const withHooks = (hooks: Hooks): Encoding => encoding({ traits, params: {}, hooks: () => () => hooks });

const forward = (enc: Encoding) => {
  const transformer = createTransformer(config, enc);
  return tf.tidy(() => transformer.forward(createParams(transformer.params, 0), input).logits.dataSync());
};

const wrong: readonly (readonly [string, string, Hooks])[] = (
  [
    ['embed', '[2, 5, 10], and [B, Tq, E] = [2, 5, 7]', { embed: () => tf.zeros<tf.Rank.R3>([batch, length, 10]) }],
    ['infuse', '[1, 5, 10], and [B, Tq, D] = [2, 5, 10]', layers({ infuse: () => tf.zeros([1, length, 10]) })],
    [
      'rotate',
      '[2, 4, 5, 6], and [B, N, Tq, Dr] = [2, 2, 5, Dr]',
      layers({ rotate: (u) => (u.shape[1] === 2 ? tf.concat([u, u], 1) : u) }),
    ],
    [
      'rotate',
      '[2, 4, 5, 4], and [B, N, Tq, Dr] = [2, 4, 5, 6]',
      layers({ rotate: (u, side) => (side === 'query' ? tf.slice(u, [0, 0, 0, 0], [-1, -1, -1, 4]) : u) }),
    ],
    [
      'scale',
      '[1, 2, 5, 1], and [B|1, H|1, Tq|1, Tk|1] = [1|1, 4|1, 5|1, 5|1]',
      layers({ scale: tf.ones([1, 2, 5, 1]) }),
    ],
    ['relativeBias', '[1, 9], and [H, n] = [4, 9]', layers({ relativeBias: ({ length: n }) => tf.zeros([1, n]) })],
    [
      'carry',
      '[2, 5, 4, 1], and [B, H, Tq, F] = [2, 4, 5, F]',
      layers({ carry: () => tf.zeros([batch, length, 4, 1]) }),
    ],
    ['scores', '[2, 1, 5, 5], and [B, H, Tq, Tk] = [2, 4, 5, 5]', layers({ scores: () => tf.zeros([2, 1, 5, 5]) })],
    [
      'bias',
      '[4, 5, 5], and [B|1, H|1, Tq|1, Tk|1] = [2|1, 4|1, 5|1, 5|1]',
      layers({ bias: () => tf.zeros([4, 5, 5]) as tf.Tensor as tf.Tensor4D }),
    ],
    ['mix', '[2, 4, 5, 3], and [B, H, Tq, Dh] = [2, 4, 5, 6]', layers({ mix: () => tf.zeros([2, 4, 5, 3]) })],
  ] as const
).map(([hook, shapes, hooks]) => [hook, `returned a tensor ${shapes} is wanted`, hooks]);

function layers(hooks: LayerHooks): Hooks {
  return { layer: () => hooks };
}

describe('a hook that returns another shape than the contract’s', () => {
  it.each(wrong)('%s: %s', (hook, message, hooks) => {
    expect(() => forward(withHooks(hooks))).toThrow(PosencError);
    expect(() => forward(withHooks(hooks))).toThrow(`the encoding: its hook "${hook}" ${message}`);
  });

  it('is refused by the name of its encoding, inside the algebra too', () => {
    const lone = defineEncoding({
      contract: 1,
      type: 'lone',
      reference: 'test',
      equation: 'test',
      notes: [],
      config: z.strictObject({}),
      create: () => withHooks(layers({ relativeBias: ({ length: n }) => tf.zeros([1, n]) })),
    });
    const right = defineEncoding({
      ...lone,
      type: 'right',
      create: (_, { numHeads }) => withHooks(layers({ relativeBias: ({ length: n }) => tf.zeros([numHeads, n]) })),
    });
    const registry = createRegistry([lone, right]);
    const named = 'encoding "lone": its hook "relativeBias" returned a tensor [1, 9], and [H, n] = [4, 9] is wanted';
    const of = [{ type: 'right' as const }, { type: 'lone' as const }];
    for (const it of [
      { type: 'lone' as const },
      { type: 'compose' as const, of },
      { type: 'perLayer' as const, of, pattern: [0, 1] },
    ])
      expect(() => forward(registry.create(it, dimsOf(config)))).toThrow(named);
    expect(() => forward(registry.create({ type: 'right' }, dimsOf(config)))).not.toThrow();
  });

  it('nothing at all is refused as well', () => {
    const none = layers({ bias: (() => undefined) as unknown as NonNullable<LayerHooks['bias']> });
    expect(() => forward(withHooks(none))).toThrow('its hook "bias" returned no tensor');
  });

  it('is refused in a decoding step, where queries and keys differ in number', () => {
    const square = withHooks(layers({ bias: ({ q }) => tf.zeros([1, 1, q.shape[2], q.shape[2]]) }));
    const transformer = createTransformer(config, square);
    tf.tidy(() => {
      const params = createParams(transformer.params, 0);
      const { cache } = transformer.forward(params, { tokens: range(3) }, { cache: startCache(8) });
      expect(() => transformer.forward(params, { tokens: range(2) }, { cache })).toThrow(
        'its hook "bias" returned a tensor [1, 1, 2, 2], and [B|1, H|1, Tq|1, Tk|1] = [1|1, 4|1, 2|1, 5|1] is wanted',
      );
    });
  });
});

describe('a hook that returns a tensor of another type than float32', () => {
  const cast = (x: tf.Tensor) => tf.cast(x, 'int32');
  const integers: readonly (readonly [string, string, Hooks])[] = [
    ['embed', 'int32', { embed: (x) => cast(x) as tf.Tensor3D }],
    ['infuse', 'int32', layers({ infuse: (x) => cast(x) as tf.Tensor3D })],
    ['rotate', 'int32', layers({ rotate: (u) => cast(u) as tf.Tensor4D })],
    ['scale', 'int32', layers({ scale: tf.tensor4d([2], [1, 1, 1, 1], 'int32') })],
    [
      'relativeBias',
      'int32',
      layers({
        relativeBias: (offsets) =>
          tf.tile(tf.neg(tf.abs(tf.tensor2d(offsets, [1, offsets.length]))), [4, 1]) as tf.Tensor2D,
      }),
    ],
    ['carry', 'int32', layers({ carry: () => tf.zeros([batch, 4, length, 1], 'int32') })],
    ['scores', 'int32', layers({ scores: () => tf.zeros([batch, 4, length, length], 'int32') })],
    ['bias', 'bool', layers({ bias: () => tf.zeros([1, 1, 1, 1], 'bool') })],
    ['mix', 'int32', layers({ mix: (weights, v) => cast(tf.matMul(weights, v)) as tf.Tensor4D })],
  ];

  it.each(integers)('%s: %s', (hook, dtype, hooks) => {
    expect(() => forward(withHooks(hooks))).toThrow(PosencError);
    expect(() => forward(withHooks(hooks))).toThrow(
      `the encoding: its hook "${hook}" returned a tensor of ${dtype}, and float32 is wanted`,
    );
  });
});

describe('what is no object of the contract’s hooks', () => {
  const given = (value: unknown) => value as Hooks & LayerHooks;

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['a number', 1],
    ['an array', []],
    ['a promise', Promise.resolve({})],
  ])('%s', (found, value) => {
    const wanted = `returned ${found}, and an object of hooks is wanted ({} for none)`;
    const inLayer = withHooks({ layer: () => given(value) });
    expect(() => forward(inLayer)).toThrow(PosencError);
    expect(() => forward(inLayer)).toThrow(`the encoding: its hook "layer" ${wanted}`);
    expect(() => forward(withHooks(given(value)))).toThrow(`the encoding: its "hooks" ${wanted}`);
  });

  it('a misspelt hook is refused with the nearest right one', () => {
    const misspelt = withHooks(layers(given({ relativebias: () => 1 })));
    expect(() => forward(misspelt)).toThrow(PosencError);
    expect(() => forward(misspelt)).toThrow(
      'the encoding: its hook "layer" returned an unknown hook "relativebias": did you mean "relativeBias"?',
    );
    expect(() => forward(withHooks(given({ layers: () => ({}) })))).toThrow(
      'the encoding: its "hooks" returned an unknown hook "layers": did you mean "layer"?',
    );
  });

  it('a hook of a layer outside of "layer" is refused with what stands there', () => {
    expect(() => forward(withHooks(given({ relativeBias: () => 1 })))).toThrow('"relativeBias": allowed: embed, layer');
  });

  it('a hook that is no function', () => {
    const tensor = withHooks(layers(given({ bias: [1] })));
    expect(() => forward(tensor)).toThrow(PosencError);
    expect(() => forward(tensor)).toThrow('the encoding: its hook "bias" is an array, and a function is wanted');
  });

  it('a hook left undefined is none', () => {
    expect(() => forward(withHooks(layers(given({ bias: undefined }))))).not.toThrow();
  });
});

describe('shapes the contract allows', () => {
  it.each([
    [1, 1, 1, 1],
    [1, 4, 1, 5],
    [2, 1, 5, 1],
    [2, 4, 5, 5],
  ])('a bias [%i, %i, %i, %i]', (...shape) => {
    expect(() => forward(withHooks(layers({ bias: () => tf.zeros(shape) as tf.Tensor4D })))).not.toThrow();
  });

  it('a rotation to another width, the same for queries and keys', () => {
    const half = layers({ rotate: (u) => tf.slice(u, [0, 0, 0, 0], [-1, -1, -1, 3]) });
    expect(() => forward(withHooks(half))).not.toThrow();
  });
});
