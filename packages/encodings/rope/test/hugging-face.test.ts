/** config.json of Hugging Face models in our words: every model of golden/models, in both spellings, and what is refused. */
import { attentionTemperature } from '@posenc/attention-temperature';
import { createRegistry, range } from '@posenc/core';
import { nope } from '@posenc/nope';
import { fromHuggingFace, rope } from '@posenc/rope';
import type { Tensor } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { load } from './golden.ts';

beforeAll(() => tf.setBackend('cpu'));

const models = load<Record<string, { config: object; legacy?: object }>>('models/configs');

const turned = (options: object = {}) => ({ type: 'rope', base: 10000, ...options });
const longrope = {
  type: 'longrope',
  shortFactor: [1, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.8],
  longFactor: [1.1, 1.4, 1.9, 2.7, 3.6, 4.8, 6.2, 7.9],
  originalMaxPositionEmbeddings: 40,
  factor: 4,
};
const yarn = { type: 'yarn', factor: 4, originalMaxPositionEmbeddings: 32 };
const perLayer = (of: object[], pattern: number[]) => ({ type: 'perLayer', of, pattern });
const interleaved = turned({ pairing: 'interleaved' });
const temperature = { type: 'attention-temperature', rule: { type: 'llama4', floorScale: 12, attnScale: 0.5 } };

/** By folder; read off the models’ own descriptions. */
const expected: Record<string, object> = {
  cohere: interleaved,
  cohere2: perLayer([interleaved, { type: 'nope' }], [0, 0, 0, 1]),
  esm: turned(),
  'falcon-new-decoder': turned(),
  'falcon-rotary': turned(),
  gemma: turned(),
  gemma2: turned(),
  gemma3: perLayer([turned(), turned({ base: 1e6 })], [0, 0, 1]),
  'gemma3-linear': perLayer([turned(), turned({ base: 1e5, scaling: { type: 'linear', factor: 8 } })], [0, 0, 1]),
  'gpt-neox': turned({ partialRotaryFactor: 0.25 }),
  gptj: turned({ pairing: 'interleaved', rotaryDim: 8 }),
  llama: turned(),
  'llama-bias-theta': turned({ base: 500000 }),
  'llama-dynamic': turned({ scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 24 } }),
  'llama-head-dim': turned(),
  'llama-linear': turned({ scaling: { type: 'linear', factor: 4 } }),
  'llama-llama3': turned({
    scaling: { type: 'llama3', factor: 8, originalMaxPositionEmbeddings: 64, lowFreqFactor: 1, highFreqFactor: 4 },
  }),
  'llama-longrope': turned({ scaling: longrope }),
  'llama-yarn': turned({ scaling: yarn }),
  'llama4-text': perLayer([interleaved, temperature], [0, 0, 0, 1]),
  mistral: turned(),
  modernbert: perLayer([turned({ base: 160000 }), turned()], [0, 1, 1]),
  olmo2: turned({ base: 500000 }),
  phi: turned({ partialRotaryFactor: 0.5 }),
  'phi3-longrope': turned({ scaling: longrope }),
  qwen2: turned({ base: 1e6 }),
  'qwen2-window': turned(),
  'qwen2-yarn': turned({ base: 1e6, scaling: yarn }),
  qwen3: turned(),
  roformer: interleaved,
  smollm3: perLayer([turned({ base: 2e6 }), { type: 'nope' }], [0, 0, 0, 1]),
  stablelm: turned({ partialRotaryFactor: 0.25 }),
};

describe('models that use RoPE, in both spellings', () => {
  for (const [name, wanted] of Object.entries(expected)) {
    it(`${name}, as transformers 5 writes it`, () => expect(fromHuggingFace(models[name]!.config)).toEqual(wanted));
    if (models[name]!.legacy)
      it(`${name}, as transformers 4 wrote it`, () => expect(fromHuggingFace(models[name]!.legacy)).toEqual(wanted));
  }

  it('every other model is refused by name', () => {
    const others = Object.entries(models).filter(([name]) => !(name in expected));
    expect(others).toHaveLength(15);
    for (const [, { config, legacy }] of others)
      for (const json of legacy ? [config, legacy] : [config])
        expect(() => fromHuggingFace(json)).toThrow(/says nothing of rotary positions|"alibi" is true/);
  });
});

describe('layers without RoPE, against the lists transformers makes', () => {
  interface Case {
    readonly id: string;
    readonly config: object;
    readonly num_hidden_layers: number;
    readonly no_rope_layers: readonly number[];
  }
  for (const c of load<{ cases: Case[] }>('reference/no-rope-layers').cases)
    it(c.id, () => {
      const model_type = c.id.includes('smollm3') ? 'smollm3' : 'llama4_text';
      const config = { num_hidden_layers: c.num_hidden_layers, ...c.config, model_type };
      const encoding = fromHuggingFace(config);
      if (encoding.type !== 'perLayer') throw new Error(`expected layers of two kinds, got ${encoding.type}`);
      const { of, pattern } = encoding;
      const turning = Array.from({ length: c.num_hidden_layers }, (_, l) =>
        of[pattern[l % pattern.length]!]!.type === 'rope' ? 1 : 0,
      );
      expect(turning).toEqual(c.no_rope_layers);
      // Told outright, the same list means the same.
      expect(fromHuggingFace({ ...config, no_rope_layers: c.no_rope_layers })).toEqual(fromHuggingFace(config));
    });

  it('an empty list is the default in Llama 4, and refused in SmolLM3, as there', () => {
    const empty = (model_type: string) => ({ model_type, num_hidden_layers: 8, no_rope_layers: [] });
    expect(fromHuggingFace(empty('llama4_text'))).toMatchObject({ pattern: [0, 0, 0, 1] });
    expect(() => fromHuggingFace(empty('smollm3'))).toThrow('no_rope_layers lists 0 layers, and the model has 8');
  });
});

const llama = (rest: object) => ({
  model_type: 'llama',
  hidden_size: 64,
  num_attention_heads: 4,
  max_position_embeddings: 4096,
  ...rest,
});
const scaled = (parameters: object, rest: object = {}) => llama({ rope_scaling: parameters, ...rest });

describe('known models', () => {
  it('DeepSeek V3: interleaved in, halves out, 64 channels of 192, scores scaled', () => {
    const rope_scaling = {
      beta_fast: 32,
      beta_slow: 1,
      factor: 40,
      mscale: 1,
      mscale_all_dim: 1,
      original_max_position_embeddings: 4096,
      type: 'yarn',
    };
    const sizes = { hidden_size: 7168, num_attention_heads: 128, qk_nope_head_dim: 128, qk_rope_head_dim: 64 };
    expect(
      fromHuggingFace({ model_type: 'deepseek_v3', ...sizes, max_position_embeddings: 163840, rope_scaling }),
    ).toEqual(
      turned({
        pairing: 'deepseek',
        rotaryDim: 64,
        scaling: {
          type: 'yarn',
          factor: 40,
          originalMaxPositionEmbeddings: 4096,
          betaFast: 32,
          betaSlow: 1,
          mscale: 1,
          mscaleAllDim: 1,
          scaleScores: true,
        },
      }),
    );
    expect(fromHuggingFace({ model_type: 'deepseek_v3', ...sizes, rope_interleave: false })).toEqual(
      turned({ rotaryDim: 64 }),
    );
  });

  it('Ministral 3: YaRN and a temperature in every layer', () => {
    const rope_parameters = {
      type: 'yarn',
      rope_theta: 1e6,
      factor: 16,
      original_max_position_embeddings: 16384,
      max_position_embeddings: 262144,
      llama_4_scaling_beta: 0.1,
    };
    expect(fromHuggingFace({ model_type: 'ministral3', rope_parameters })).toEqual({
      type: 'compose',
      of: [
        turned({ base: 1e6, scaling: { type: 'yarn', factor: 16, originalMaxPositionEmbeddings: 16384 } }),
        {
          type: 'attention-temperature',
          rule: { type: 'ministral3', beta: 0.1, originalMaxPositionEmbeddings: 16384 },
        },
      ],
    });
  });

  it('Gemma 4: proportional in full layers, told by layer type; 26 layers repeat after 6', () => {
    const layer_types = Array.from({ length: 26 }, (_, l) => ((l + 1) % 6 ? 'sliding_attention' : 'full_attention'));
    const rope_parameters = {
      full_attention: { rope_type: 'proportional', partial_rotary_factor: 0.25, rope_theta: 1e6 },
      sliding_attention: { rope_type: 'default', rope_theta: 1e4 },
    };
    expect(fromHuggingFace({ model_type: 'gemma4_text', layer_types, rope_parameters })).toEqual(
      perLayer(
        [turned(), turned({ base: 1e6, scaling: { type: 'proportional', partialRotaryFactor: 0.25 } })],
        [0, 0, 0, 0, 0, 1],
      ),
    );
  });

  it('a layer type whose parameters are null has no RoPE', () => {
    const rope_parameters = { full_attention: null, sliding_attention: { rope_type: 'default' } };
    const layer_types = ['sliding_attention', 'full_attention', 'sliding_attention'];
    expect(fromHuggingFace({ rope_theta: 500, layer_types, rope_parameters })).toEqual(
      perLayer([turned({ base: 500 }), { type: 'nope' }], [0, 1]),
    );
  });

  it('Gemma 3 before transformers 5, bases left out; in the text part of a model of text and images', () => {
    const text = { model_type: 'gemma3_text', num_hidden_layers: 6 };
    const wanted = perLayer([turned(), turned({ base: 1e6 })], [0, 0, 0, 0, 0, 1]);
    expect(fromHuggingFace(text)).toEqual(wanted);
    expect(fromHuggingFace({ model_type: 'gemma3', text_config: text })).toEqual(wanted);
  });

  it('OLMo 3: YaRN in full layers only', () => {
    const rope_scaling = { rope_type: 'yarn', factor: 8, original_max_position_embeddings: 8192 };
    expect(fromHuggingFace({ model_type: 'olmo3', num_hidden_layers: 4, rope_theta: 500000, rope_scaling })).toEqual(
      perLayer(
        [
          turned({ base: 500000 }),
          turned({ base: 500000, scaling: { type: 'yarn', factor: 8, originalMaxPositionEmbeddings: 8192 } }),
        ],
        [0, 0, 0, 1],
      ),
    );
  });

  it('EXAONE 4: full layers without RoPE where there is a window', () => {
    const model = { model_type: 'exaone4', num_hidden_layers: 4, rope_theta: 1e6 };
    const windowed = perLayer([turned({ base: 1e6 }), { type: 'nope' }], [0, 0, 0, 1]);
    expect(fromHuggingFace({ ...model, sliding_window: 4096, sliding_window_pattern: 4 })).toEqual(windowed);
    expect(fromHuggingFace({ ...model, sliding_window: null })).toEqual(turned({ base: 1e6 }));
  });

  it('HunYuan’s alpha is NTK-aware scaling, Phi-3’s old names are LongRoPE', () => {
    expect(fromHuggingFace(scaled({ type: 'dynamic', alpha: 1000, factor: 1 }))).toMatchObject({
      scaling: { type: 'ntk', factor: 1000 },
    });
    const lists = { short_factor: new Array(8).fill(1), long_factor: new Array(8).fill(2) };
    for (const type of ['su', 'yarn', 'longrope'])
      expect(fromHuggingFace(scaled({ type, ...lists }, { original_max_position_embeddings: 1024 }))).toMatchObject({
        scaling: { type: 'longrope', factor: 4, originalMaxPositionEmbeddings: 1024 },
      });
  });

  it.each([
    ['llama without a word of RoPE', { model_type: 'llama' }, turned()],
    ['GPT-NeoX’s quarter', { model_type: 'gpt_neox' }, turned({ partialRotaryFactor: 0.25 })],
    ['rotary_pct 1', { model_type: 'gpt_neox', rotary_pct: 1, rotary_emb_base: 500 }, turned({ base: 500 })],
    ['GLM 4', { model_type: 'glm4' }, turned({ pairing: 'interleaved', partialRotaryFactor: 0.5 })],
    ['GPT-J', { model_type: 'gptj' }, turned({ pairing: 'interleaved', rotaryDim: 64 })],
    [
      'null is the same as absent',
      { rope_theta: 7, rope_scaling: null, partial_rotary_factor: null },
      turned({ base: 7 }),
    ],
    ['type "default" with keys it does not read', { rope_scaling: { type: 'default', factor: 4 } }, turned()],
  ])('%s', (_, config, wanted) => expect(fromHuggingFace(config)).toEqual(wanted));

  it('a number of channels and the same as a fraction', () =>
    expect(fromHuggingFace(llama({ rotary_dim: 8, partial_rotary_factor: 0.5 }))).toEqual(turned({ rotaryDim: 8 })));
});

describe('what is returned is a config that a registry takes', () => {
  const registry = createRegistry([rope, nope, attentionTemperature]);
  const sizes = { modelDim: 32, embeddingDim: 32, numLayers: 4, numHeads: 2, numKvHeads: 1, headDim: 16, causal: true };
  const layersOf = (config: object) => {
    const encoding = registry.create(registry.parse(fromHuggingFace(config)), sizes);
    const hooks = encoding.hooks({})({ query: range(1, 11), key: range(1, 11), seqLen: range(1, 12) });
    return [0, 1, 2, 3].map((layer) => hooks.layer!(layer));
  };

  it.each(Object.keys(expected))('%s', (name) => {
    const layers = layersOf(models[name]!.config);
    expect(layers.some(({ rotate }) => rotate)).toBe(true);
  });

  it('Llama 4: the layer without RoPE has the temperature, and it alone', () => {
    const layers = layersOf(models['llama4-text']!.config);
    expect(layers.map(({ rotate }) => rotate !== undefined)).toEqual([true, true, true, false]);
    expect(layers.map(({ scale }) => scale !== undefined)).toEqual([false, false, false, true]);
    expect((layers[3]!.scale as Tensor).dataSync()[0]).toBeCloseTo(1 + 0.5 * Math.log(2), 6); // position 11, steps of 12
  });

  it('SmolLM3 and Cohere 2: the fourth layer has nothing', () => {
    for (const name of ['smollm3', 'cohere2']) expect(layersOf(models[name]!.config)[3]).toEqual({});
  });
});

const yarnOf = (rest: object) => ({ rope_type: 'yarn', factor: 4, original_max_position_embeddings: 1024, ...rest });
const lists = (length: number) => ({
  rope_type: 'longrope',
  short_factor: new Array(length).fill(1),
  long_factor: new Array(length).fill(2),
  original_max_position_embeddings: 1024,
});

describe('what it cannot mean is refused', () => {
  it.each<[string, unknown, string]>([
    ['no object', [], 'config.json is []; expected an object'],
    [
      'factor below 1',
      scaled({ rope_type: 'linear', factor: 0.5 }),
      'rope_scaling: "factor" is 0.5: must be at least 1',
    ],
    [
      'no factor',
      scaled({ rope_type: 'linear' }),
      'rope_scaling: "factor" is missing, and rope_type "linear" needs it',
    ],
    ['no factor', scaled({ rope_type: 'dynamic', factor: null }), '"factor" is missing, and rope_type "dynamic"'],
    [
      'no original length',
      scaled({ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 }),
      '"original_max_position_embeddings" is missing, and rope_type "llama3" needs it',
    ],
    ['no original length', scaled({ rope_type: 'yarn', factor: 8 }), '"original_max_position_embeddings" is missing'],
    [
      'no maximal length',
      { rope_scaling: { rope_type: 'dynamic', factor: 8 } },
      'config.json: "max_position_embeddings" is missing, and rope_type "dynamic" needs it',
    ],
    ['lists too short', scaled(lists(7)), 'shortFactor of scaling "longrope" lists 7 numbers, and 8 pairs'],
    ['no list', scaled({ ...lists(8), long_factor: null }), '"long_factor" is missing, and rope_type "longrope"'],
    ['a list of words', scaled({ ...lists(8), long_factor: ['a'] }), '"long_factor.0" is "a"'],
    [
      'one factor per list',
      scaled({ ...lists(8), short_mscale: 1, long_mscale: 1.2 }),
      'short_mscale and long_mscale differ',
    ],
    ['fast slower than slow', scaled(yarnOf({ beta_fast: 1, beta_slow: 2 })), 'must be at least betaSlow'],
    ['attn_factor', scaled(yarnOf({ attn_factor: 1 })), '"attn_factor" is read by no version of transformers'],
    ['a misspelt key', scaled(yarnOf({ beta_fats: 1 })), 'unknown key "beta_fats": did you mean "beta_fast"?'],
    ['an unknown type', scaled({ rope_type: 'cubic' }), 'rope_type "cubic" is not known; known are default, linear'],
    [
      'several axes',
      scaled({ type: 'mrope', mrope_section: [16, 24, 24] }),
      '"mrope_section" gives every token several',
    ],
    ['two types', scaled({ rope_type: 'linear', type: 'dynamic', factor: 2 }), '"rope_type" is "linear" and "type" is'],
    [
      'two dicts',
      scaled({ rope_type: 'linear', factor: 2 }, { rope_parameters: { rope_type: 'linear', factor: 4 } }),
      '"rope_parameters" and "rope_scaling" say different things',
    ],
    ['two bases', scaled({ rope_theta: 500 }, { rope_theta: 1000 }), 'rope_theta is 1000, and 500 in rope_scaling'],
    [
      'two original lengths',
      scaled(yarnOf({}), { original_max_position_embeddings: 512 }),
      'original_max_position_embeddings is 512, and 1024 in rope_scaling',
    ],
    [
      'two widths',
      llama({ rotary_pct: 0.25, partial_rotary_factor: 0.5 }),
      '"partial_rotary_factor" is 0.5 and "rotary_pct" is 0.25',
    ],
    [
      'two widths',
      llama({ rotary_dim: 4, partial_rotary_factor: 0.5 }),
      '"rotary_dim" is 4, and 0.5 of 16 channels are 8, two spellings',
    ],
    ['an odd width', llama({ rope_theta: 1, partial_rotary_factor: 0.45 }), 'channels turn in pairs'],
    ['a base that is no number', llama({ rope_theta: '10000' }), '"rope_theta" is "10000"; expected a number'],
    [
      'parameters that are no object',
      llama({ rope_scaling: 'linear' }),
      '"rope_scaling" is "linear"; expected an object',
    ],
    ['ALiBi', { model_type: 'falcon', alibi: true }, '"alibi" is true'],
    [
      'another kind',
      { model_type: 'esm', position_embedding_type: 'absolute' },
      'is "absolute", so this model has no RoPE',
    ],
    ['rotated values', { model_type: 'roformer', rotary_value: true }, '"rotary_value" is true'],
    ['bases by layer', llama({ layer_rope_theta: [1, 2] }), '"layer_rope_theta" is not supported'],
    [
      'a layer type without parameters',
      { layer_types: ['full_attention', 'conv'], rope_parameters: { full_attention: {} } },
      'there are none for "conv" (given: full_attention)',
    ],
    [
      'parameters by layer type, and no layer types',
      { num_hidden_layers: 2, rope_parameters: { full_attention: {} } },
      'layer_types is missing',
    ],
    ['no number of layers', { model_type: 'smollm3' }, '"num_hidden_layers" does not say how many'],
    [
      'two numbers of layers',
      { num_hidden_layers: 3, layer_types: ['a', 'b'], rope_parameters: { a: {}, b: {} } },
      'layer_types lists 2 layers, and num_hidden_layers is 3',
    ],
    ['a strange list', llama({ num_hidden_layers: 1, no_rope_layers: [2] }), 'no_rope_layers holds 2; expected 1'],
    ['base 1 where pairs must differ', scaled(yarnOf({ rope_theta: 1 })), 'at base 1 all pairs turn alike'],
  ])('%s', (_, config, words) => {
    expect(() => fromHuggingFace(config)).toThrow(words);
    expect(() => fromHuggingFace(config)).toThrow(expect.objectContaining({ name: 'PosencError' }));
  });
});
