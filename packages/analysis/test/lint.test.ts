import { readFileSync } from 'node:fs';
import { createRegistry, dimsOf, resolveModel } from '@posenc/core';
import { learned } from '@posenc/learned';
import { nope } from '@posenc/nope';
import { rope } from '@posenc/rope';
import { sinusoidal } from '@posenc/sinusoidal';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { lintHuggingFace, lintRules, lintStack, stackRules } from '../src/index.ts';

/** Llama 3.1 8B, as published. */
const llama = {
  model_type: 'llama',
  hidden_size: 4096,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  max_position_embeddings: 131072,
  rope_theta: 500000,
  rope_scaling: {
    rope_type: 'llama3',
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  },
};
const scaled = (rope_scaling: object, rest: object = {}) => ({ ...llama, rope_scaling, ...rest });
const found = (config: object) => lintHuggingFace(config).map(({ rule, level, at }) => `${level} ${rule} ${at}`);
const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 32768 };

describe('lintHuggingFace', () => {
  it('finds nothing wrong with Llama 3.1, but that its lengths differ from factor × original', () => {
    expect(found(llama)).toEqual(['note original-length rope_scaling.original_max_position_embeddings']);
  });

  it.each<[string, object, string]>([
    ['a misspelt type', scaled({ rope_type: 'yarm', factor: 4 }), 'error unknown-rope-type rope_scaling.rope_type'],
    ['the older key', scaled({ type: 'linear', factor: 4 }), 'note type-spelling rope_scaling.type'],
    ['two types', scaled({ type: 'linear', rope_type: 'dynamic', factor: 4 }), 'error type-spelling rope_scaling.type'],
    [
      'both spellings',
      { ...scaled({ rope_type: 'linear', factor: 4 }), rope_parameters: { rope_type: 'linear', factor: 8 } },
      'error two-spellings rope_scaling.factor',
    ],
    [
      'two bases',
      scaled({ rope_type: 'linear', factor: 4, rope_theta: 1e6 }),
      'error base-conflict rope_scaling.rope_theta',
    ],
    ['no factor', scaled({ rope_type: 'linear' }), 'error missing-keys rope_scaling.factor'],
    [
      'YaRN without its original length',
      scaled({ rope_type: 'yarn', factor: 4 }),
      'warning missing-keys rope_scaling.original_max_position_embeddings',
    ],
    ['a shrinking factor', scaled({ rope_type: 'linear', factor: 0.5 }), 'error factor-below-one rope_scaling.factor'],
    ['attn_factor', scaled({ ...yarn, attn_factor: 1 }), 'warning attn-factor rope_scaling.attn_factor'],
    [
      'a text as attention_factor',
      scaled({ ...yarn, attention_factor: '1' }),
      'error attention-factor rope_scaling.attention_factor',
    ],
    [
      'an original length beyond the stretched one',
      scaled({ ...yarn, original_max_position_embeddings: 262144 }),
      'error original-length rope_scaling.original_max_position_embeddings',
    ],
    [
      'betas in the wrong order',
      scaled({ ...yarn, beta_fast: 1, beta_slow: 32 }),
      'error yarn-range rope_scaling.beta_fast',
    ],
    // d = 16, L0 = 8: field guide, low 0 and high −1.
    [
      'a ramp without width',
      {
        hidden_size: 32,
        num_attention_heads: 2,
        max_position_embeddings: 32,
        rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 8, beta_slow: 8 },
      },
      'warning yarn-range rope_scaling.beta_slow',
    ],
    ['mscale alone', scaled({ ...yarn, mscale: 0.7 }), 'warning mscale-alone rope_scaling.mscale'],
    [
      'truncate by layer type',
      { ...llama, rope_scaling: undefined, rope_parameters: { full_attention: { ...yarn, truncate: false } } },
      'warning nested-truncate rope_parameters.full_attention.truncate',
    ],
    ['dynamic NTK', scaled({ rope_type: 'dynamic', factor: 2 }), 'note dynamic-cache rope_scaling'],
    [
      'lists of the wrong length',
      scaled({ rope_type: 'longrope', short_factor: [1, 1], long_factor: Array(64).fill(2) }),
      'error longrope-lists rope_scaling.short_factor',
    ],
    [
      'inverted bands',
      scaled({ ...llama.rope_scaling, low_freq_factor: 4 }),
      'error llama3-bands rope_scaling.low_freq_factor',
    ],
    [
      'two rotary widths',
      { hidden_size: 64, num_attention_heads: 4, rotary_dim: 8, rotary_pct: 0.25 },
      'error rotary-width rotary_pct',
    ],
    [
      'an odd rotary width',
      { hidden_size: 80, num_attention_heads: 4, rotary_pct: 0.25 },
      'error rotary-width rotary_pct',
    ],
    ['head_dim null', scaled(yarn, { head_dim: null }), 'error head-dim head_dim'],
    ['heads that do not divide', { hidden_size: 100, num_attention_heads: 3 }, 'error head-dim num_attention_heads'],
    ['an explicit head_dim', { ...llama, head_dim: 256 }, 'note head-dim head_dim'],
    ['M-RoPE', scaled({ rope_type: 'default', mrope_section: [16, 24, 24] }), 'warning multi-axis rope_scaling'],
    [
      'ALiBi with 12 heads',
      { model_type: 'bloom', hidden_size: 96, n_head: 12 },
      'note alibi-heads num_attention_heads',
    ],
    ['a multimodal config', { text_config: scaled({ rope_type: 'linear' }) }, 'error missing-keys rope_scaling.factor'],
  ])('%s', (_, config, expected) => {
    expect(found(config)).toContain(expected);
  });

  it('counts the pairs that complete a turn: 92 of 128 channels for base 10⁴ at 4096 (2310.05209)', () => {
    const [finding] = lintHuggingFace({
      hidden_size: 4096,
      num_attention_heads: 32,
      max_position_embeddings: 4096,
      rope_theta: 10000,
    });
    expect(finding).toMatchObject({ rule: 'wavelengths', message: expect.stringMatching(/^46 of 64 pairs/) });
  });

  it('lists errors first, and survives anything', () => {
    const levels = lintHuggingFace(scaled({ type: 'linear', factor: 0.5, attn_factor: 2 })).map((f) => f.level);
    expect(levels).toEqual(
      [...levels].sort((a, b) => ['error', 'warning', 'note'].indexOf(a) - ['error', 'warning', 'note'].indexOf(b)),
    );
    for (const odd of [
      null,
      3,
      [],
      {},
      { rope_scaling: [] },
      { rope_scaling: { rope_type: {} } },
      { hidden_size: 'x', num_attention_heads: 0 },
    ])
      expect(() => lintHuggingFace(odd)).not.toThrow();
  });

  it('ties every rule to the bug it prevents', () => {
    const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    for (const { name, prevents } of [...lintRules, ...stackRules]) {
      expect(prevents.length).toBeGreaterThan(20);
      expect(page).toContain(`\`${name}\``);
    }
  });
});

describe('lintStack', () => {
  beforeAll(() => tf.setBackend('cpu'));
  const registry = createRegistry([nope, rope, learned, sinusoidal]);
  const lint = (encoding: object, changes: object = {}, lengths: object = {}) => {
    const model = resolveModel({ vocabSize: 64, modelDim: 64, numLayers: 1, numHeads: 4, ...changes });
    const dims = dimsOf(model);
    return lintStack({ encoding: registry.create(registry.parse(encoding), dims), model, dims, ...lengths }).map(
      ({ rule }) => rule,
    );
  };

  it('measures that a sinusoid drowns small embeddings, and that the paper’s scale does not', () => {
    expect(lint({ type: 'sinusoidal' })).toEqual(['amplitude']);
    expect(lint({ type: 'sinusoidal' }, { embeddingScale: 'sqrtModelDim', embeddingInitStd: 0.125 })).toEqual([]);
    expect(lint({ type: 'learned', numPositions: 64 })).toEqual([]);
  });

  it('warns of table rows that training never reaches, and of too short a table', () => {
    expect(lint({ type: 'learned', numPositions: 1024 }, {}, { trainingLength: 64, longest: 512 })).toEqual([
      'untrained-positions',
    ]);
    expect(lint({ type: 'learned', numPositions: 64 }, {}, { trainingLength: 64, longest: 512 })).toEqual([]);
    expect(lint({ type: 'learned', numPositions: 32 }, {}, { trainingLength: 64 })).toEqual(['training-length']);
  });

  it('knows a bag of tokens, and encodings that read the length', () => {
    expect(lint({ type: 'nope' }, { causal: false })).toEqual(['no-positions']);
    expect(lint({ type: 'nope' })).toEqual([]);
    expect(lint({ type: 'rope', scaling: { type: 'dynamic', factor: 2, originalMaxPositionEmbeddings: 64 } })).toEqual([
      'sequence-length',
    ]);
  });
});
