/** What the mapping of Hugging Face files accepts, ignores and refuses, on files made from those of golden/models. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alibi } from '@posenc/alibi';
import { createRegistry, PosencError } from '@posenc/core';
import { deberta } from '@posenc/deberta';
import { learned } from '@posenc/learned';
import { nope } from '@posenc/nope';
import { rope, fromHuggingFace as ropeOf } from '@posenc/rope';
import { transformerXl } from '@posenc/transformer-xl';
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { fused } from '../src/binding.ts';
import {
  families,
  familyOf,
  fromHuggingFace,
  type HostTensor,
  type HubCheckpoint,
  readHubFolder,
  toHuggingFace,
  writeHubFolder,
  writeSafetensors,
} from '../src/index.ts';
import { folders, modelsFolder } from './support/reference.ts';

await tf.setBackend('cpu'); // `perLayer` asks its members for their hooks when it is created
const registry = createRegistry([alibi, deberta, learned, nope, rope, transformerXl]);
const golden = (folder: string) => readHubFolder(join(modelsFolder, folder));
const load = (checkpoint: HubCheckpoint) => fromHuggingFace(checkpoint, registry);

const floats = (shape: number[], value = 0): HostTensor => ({
  dtype: 'F32',
  shape,
  data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(value),
});

/** A folder's files with some keys and tensors changed, added or (undefined) removed. */
function changed(
  folder: string,
  { config = {}, tensors = {} }: { config?: object; tensors?: Record<string, HostTensor | undefined> },
): HubCheckpoint {
  const original = golden(folder);
  const all = new Map<string, HostTensor | undefined>([...original.tensors, ...Object.entries(tensors)]);
  return {
    config: JSON.parse(JSON.stringify({ ...original.config, ...config })) as Record<string, unknown>,
    tensors: new Map([...all].flatMap(([name, tensor]) => (tensor ? [[name, tensor]] : []))),
  };
}

const renamed = ({ config, tensors }: HubCheckpoint, name: (old: string) => string): HubCheckpoint => ({
  config,
  tensors: new Map(Array.from(tensors, ([old, tensor]) => [name(old), tensor])),
});

function refused(run: () => unknown, message: string | RegExp): void {
  expect(run).toThrow(PosencError);
  expect(run).toThrow(message);
}

describe('fused tensors', () => {
  it('hold q, k and v one after another, or head by head', () => {
    const [q, k, v] = ['q', 'k', 'v'];
    const outputs = (groups: number, ...widths: [number, number, number]) => {
      const found: string[] = [];
      const shapes = widths.map((width) => [width]);
      fused([q!, k!, v!], 'qkv', { outputs: 'first', groups }).walk(shapes, (part, at, _, theirAt) => {
        found[theirAt] = `${'qkv'[part]}${at}`;
      });
      return found.join(' ');
    };
    expect(outputs(1, 4, 2, 2)).toBe('q0 q1 q2 q3 k0 k1 v0 v1');
    expect(outputs(2, 2, 2, 2)).toBe('q0 k0 v0 q1 k1 v1'); // GPT-NeoX, BLOOM: two heads of width 1
    expect(outputs(2, 8, 4, 4)).toBe('q0 q1 q2 q3 k0 k1 v0 v1 q4 q5 q6 q7 k2 k3 v2 v3'); // Falcon 40B: groups
  });

  it('pair every number of theirs with one of ours, [out, in] and [in, out]', () => {
    const sizes = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(sizes, sizes, sizes, sizes, fc.constantFrom('first', 'last'), (inputs, groups, a, b, outputs) => {
        const shapes = [
          [inputs, groups * a],
          [inputs, groups * b],
        ];
        const binding = fused(['a', 'b'], 'ab', { outputs, groups });
        const [rows, cols] = binding.theirShapes(shapes)[0] as [number, number];
        const total = inputs * groups * (a + b);
        expect([rows, cols].sort()).toEqual([inputs, groups * (a + b)].sort());
        const pairs = new Map<number, string>();
        binding.walk(shapes, (part, at, _, theirAt) => {
          pairs.set(theirAt, `${part} ${at}`);
          // Inputs stay inputs.
          const input = Math.floor(at / shapes[part]![1]!);
          expect(outputs === 'first' ? theirAt % cols : Math.floor(theirAt / cols)).toBe(input);
        });
        expect([...pairs.keys()].sort((x, y) => x - y)).toEqual(Array.from({ length: total }, (_, i) => i));
        expect(new Set(pairs.values()).size).toBe(total);
      }),
    );
  });
});

describe('accepts', () => {
  it('files of the bare model, whose names lack its prefix', () => {
    const bare = renamed(golden('gpt2'), (name) => name.replace('transformer.', ''));
    expect(load(bare).params).toEqual(load(golden('gpt2')).params);
  });

  it('older names of tensors and keys', () => {
    const old = renamed(golden('bert'), (name) =>
      name.replace('LayerNorm.weight', 'LayerNorm.gamma').replace('LayerNorm.bias', 'LayerNorm.beta'),
    );
    expect(load(old).params).toEqual(load(golden('bert')).params);
    const { hidden_size, n_head, ...rest } = golden('bloom').config;
    const config = { ...rest, n_embed: hidden_size, num_attention_heads: n_head };
    expect(load({ config, tensors: golden('bloom').tensors }).model.config).toEqual(load(golden('bloom')).model.config);
  });

  it('weights of 16 and 64 bits', () => {
    const { shape, data } = golden('llama').tensors.get('model.norm.weight')!;
    const rounded = Float32Array.from(data as Float32Array, (x) => Math.round(x * 16) / 16);
    for (const tensor of [
      { dtype: 'F16', shape, data: rounded },
      { dtype: 'BF16', shape, data: rounded },
      { dtype: 'F64', shape, data: Float64Array.from(rounded) },
    ] as HostTensor[])
      expect(load(changed('llama', { tensors: { 'model.norm.weight': tensor } })).params['norm.gain']!.data).toEqual(
        rounded,
      );
  });

  it('what is superfluous, and says why', () => {
    const head = golden('gpt2').tensors.get('transformer.wte.weight')!;
    const loaded = load(
      changed('gpt2', {
        tensors: { 'lm_head.weight': head, 'transformer.h.0.attn.bias': floats([1, 1, 80, 80], 1) },
      }),
    );
    expect(loaded.ignored).toEqual([
      { name: 'lm_head.weight', reason: 'the token embedding again' },
      { name: 'transformer.h.0.attn.bias', reason: 'the causal mask, which is built anew' },
    ]);
    expect(loaded.params).toEqual(load(golden('gpt2')).params);
    const bias = golden('bert').tensors.get('cls.predictions.bias')!;
    expect(load(changed('bert', { tensors: { 'cls.predictions.decoder.bias': bias } })).ignored).toEqual([
      { name: 'cls.predictions.decoder.bias', reason: '"cls.predictions.bias" again' },
    ]);
  });

  it('a head of its own, whatever config.json says', () => {
    const loaded = load(changed('gpt2', { tensors: { 'lm_head.weight': floats([64, 32], 2) } }));
    expect(loaded.model.config.tiedEmbeddings).toBe(false);
    expect(loaded.params['head.weight']!.data.every((x) => x === 2)).toBe(true);
    expect(loaded.notes.join()).toMatch(/the file has a head of its own, which is used/);
    expect(load(toHuggingFace(loaded, registry)).params).toEqual(loaded.params);
  });

  it('weights in several files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'posenc shards '));
    afterAll(() => rmSync(folder, { recursive: true }));
    const { config, tensors } = golden('llama');
    const entries = [...tensors];
    const files = { 'a.safetensors': entries.slice(0, 7), 'b.safetensors': entries.slice(7) };
    for (const [file, part] of Object.entries(files)) writeSafetensors(join(folder, file), part);
    const map = Object.fromEntries(Object.entries(files).flatMap(([file, part]) => part.map(([name]) => [name, file])));
    const index = (weight_map: unknown) =>
      writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map }));
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    index(map);
    expect(load(readHubFolder(folder)).params).toEqual(load(golden('llama')).params);
    index({ ...map, 'model.extra': 'b.safetensors' });
    refused(() => readHubFolder(folder), /promises a tensor "model.extra" in "b.safetensors", which is not there/);
    index({ ...map, 'model.norm.weight': '../b.safetensors' });
    refused(() => readHubFolder(folder), /no "weight_map" from tensors to files beside it/);
  });
});

describe('RoPE', () => {
  const has = (name: string) => JSON.stringify(load(golden(name)).encoding).includes('"rope"');
  it.each(folders.filter(has))('of %s is what @posenc/rope makes of the same config.json, on its own', (folder) => {
    const { encoding, source } = load(golden(folder));
    expect(encoding).toEqual(registry.parse(ropeOf(source)));
  });

  it('defaults that config.json leaves to the family', () => {
    const without = (folder: string) => changed(folder, { config: { rope_parameters: undefined } });
    for (const [folder, wanted] of [
      ['cohere', { base: 500000 }],
      ['gpt-neox', { base: 10000, partialRotaryFactor: 0.25 }],
      ['phi', { base: 10000, partialRotaryFactor: 0.5 }],
      ['smollm3', { of: [{ base: 2e6 }, {}] }],
      ['gemma3', { of: [{ base: 1e4 }, { base: 1e6 }] }],
    ] as const) {
      expect(load(without(folder)).encoding).toMatchObject(wanted);
      expect(load(without(folder)).encoding).toEqual(registry.parse(ropeOf(without(folder).config)));
    }
  });

  it('scalings under their older names, and written under both', () => {
    const { short_factor, long_factor } = golden('phi3-longrope').config.rope_parameters as Record<string, number[]>;
    for (const type of ['su', 'yarn'])
      expect(
        load(changed('phi3-longrope', { config: { rope_parameters: { type, short_factor, long_factor } } })).encoding,
      ).toEqual(load(golden('phi3-longrope')).encoding);
    const { config } = toHuggingFace(load(golden('gemma3-linear')), registry);
    expect(config.rope_scaling).toEqual({ rope_type: 'linear', type: 'linear', factor: 8 });
  });
});

describe('refuses', () => {
  it('folders that hold something else', () => {
    const folder = mkdtempSync(join(tmpdir(), 'posenc folder '));
    afterAll(() => rmSync(folder, { recursive: true }));
    refused(() => readHubFolder(join(folder, 'nowhere')), /cannot read .*config\.json": no such file/);
    const config = (text: string) => writeFileSync(join(folder, 'config.json'), text);
    config('{');
    refused(() => readHubFolder(folder), /config\.json" is not JSON/);
    config('[]');
    refused(() => readHubFolder(folder), /is not a JSON object/);
    config('{}');
    refused(() => readHubFolder(folder), /has no model.safetensors: take the safetensors files/);
    mkdirSync(join(folder, 'model.safetensors'));
    refused(() => readHubFolder(folder), /it is a folder; name a \.safetensors file/);
  });

  it('families it does not know, naming those it knows', () => {
    expect(families.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['bert', 'bloom', 'gpt2', 'gpt_neox', 'llama']),
    );
    refused(
      () => familyOf({ model_type: 'mamba' }),
      /model_type "mamba" is not supported; supported: .*bloom, .*gpt2, .*llama/,
    );
    refused(() => familyOf({ model_type: 'constructor' }), /not supported/);
    refused(() => familyOf({}), /config.json has no "model_type"/);
    refused(() => familyOf(null), /config.json has no "model_type"/);
  });

  it.each([
    ['gpt2', { n_embd: undefined }, /config.json: "n_embd" is missing/],
    ['gpt2', { n_layer: 0 }, /"n_layer" is 0/],
    ['gpt2', { activation_function: 'mish' }, /"activation_function" is "mish"/],
    ['gpt2', { scale_attn_by_inverse_layer_idx: true }, /"scale_attn_by_inverse_layer_idx" is true/],
    ['gpt2', { n_head: 5 }, /modelDim 32 is not divisible by numHeads 5/],
    ['bert', { position_embedding_type: 'relative_key' }, /"position_embedding_type" is "relative_key"/],
    ['bert', { is_decoder: true }, /"is_decoder" is true/],
    ['bloom', { apply_residual_connection_post_layernorm: true }, /"apply_residual_connection_post_layernorm" is true/],
    [
      'llama',
      { rope_parameters: { rope_type: 'mrope', rope_theta: 1 } },
      /rope_type "mrope" cannot be loaded; those that can: default, linear/,
    ],
    [
      'llama',
      { rope_parameters: { rope_type: 'linear', rope_theta: 1e4 } },
      /the encoding in config.json .*"scaling.factor" is missing/,
    ],
    ['opt', { word_embed_proj_dim: 16 }, /"word_embed_proj_dim" is 16: only models whose embedding is as wide/],
    ['opt', { do_layer_norm_before: false }, /"do_layer_norm_before" is false/],
    ['gpt-neo', { attention_types: [[['global'], 3]] }, /"attention_types" describes 3 layers, and "num_layers" is 2/],
    ['mpt', { attn_config: { alibi: false } }, /"attn_config.alibi" is false: only models with ALiBi can be loaded/],
    ['falcon-rotary', { alibi: true }, /"alibi" is true: Falcon rounds its ALiBi to bfloat16/],
    ['esm', { token_dropout: true }, /"token_dropout" is true: embeddings that depend on how many tokens are masked/],
    ['esm', { position_embedding_type: 'absolute' }, /only models with rotary positions/],
    ['roformer', { embedding_size: 16 }, /"embedding_size" is 16: only models whose embedding is as wide/],
    ['roberta', { max_position_embeddings: 2 }, /"max_position_embeddings" is 2, of which the first 2 rows are unused/],
    ['deberta-v2', { position_biased_input: true }, /absolute positions besides relative ones cannot be loaded/],
    ['deberta-v2', { share_att_key: false }, /positions with projections of their own cannot be loaded/],
    ['xlnet', { attn_type: 'uni' }, /only models that read in both directions can be loaded/],
    ['modernbert', { local_attention: 15 }, /"local_attention" is 15: expected an even number/],
    ['modernbert', { classifier_bias: true }, /"classifier_bias" is true and "mlp_bias" is false/],
    ['gemma3', { layer_types: ['full_attention'] }, /"layer_types" lists 1 layers, and the model has 3/],
    ['gpt-neox', { rope_parameters: { partial_rotary_factor: 0.2 } }, /rotary width .* is 3/],
  ])('in %s config.json %o', (folder, config, message) => {
    refused(() => load(changed(folder, { config })), message);
  });

  it('tensors that are missing, unknown, of other shapes or not of floats', () => {
    refused(
      () => load(changed('gpt2', { tensors: { 'transformer.wpe.weight': undefined } })),
      'the file has no tensor "transformer.wpe.weight" [80, 32], which the GPT2LMHeadModel in config.json has',
    );
    refused(
      () => load(changed('gpt2', { tensors: { 'score.weight': floats([2, 32]), 'score.bias': floats([2]) } })),
      `the file's tensor "score.weight" [2, 32] (and 1 more) is no part of the GPT2LMHeadModel`,
    );
    refused(
      () => load(changed('gpt2', { config: { n_inner: 48 } })),
      `the file's tensor "transformer.h.0.mlp.c_fc.weight" is [32, 64], but config.json makes it [32, 48]`,
    );
    const quantized: HostTensor = { dtype: 'U8', shape: [32], data: new Uint8Array(32) };
    refused(
      () => load(changed('llama', { tensors: { 'model.norm.weight': quantized } })),
      /"model.norm.weight" is U8, .* not quantized/,
    );
    refused(
      () => load(changed('bert', { tensors: { 'cls.predictions.decoder.bias': floats([64], 9) } })),
      /"cls.predictions.decoder.bias" and "cls.predictions.bias" should be the same/,
    );
  });

  it('a model larger than its file, before building it', () => {
    for (const config of [
      { vocab_size: 1e9 },
      { hidden_size: 2 ** 20 },
      { intermediate_size: 2 ** 20 },
      { head_dim: 2 ** 20 },
    ])
      refused(() => load(changed('llama', { config })), /the whole file holds only 18080 numbers/);
    refused(() => load(changed('llama', { config: { num_hidden_layers: 1e9 } })), /"num_hidden_layers" is 1000000000/);
    refused(() => load(changed('llama', { config: { hidden_size: 2e9 } })), /"modelDim" is 2000000000/);
  });

  it('2,000 mutated checkpoints, each with one PosencError, or loads them', () => {
    const folders = ['bert', 'falcon-new-decoder', 'gemma3', 'gpt-neo', 'gpt2', 'llama-linear', 'mpt', 'qwen2-window'];
    const originals = folders.map(golden);
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>(0, -1, 0.5, 3, 1e9, 2 ** 53, true, false, null, '', [], {}, [[]], undefined),
      fc.integer({ min: 1, max: 100 }),
    );
    const index = fc.nat();
    const ofConfig = fc.record({ key: index, value });
    const ofTensor = fc.record({
      tensor: index,
      kind: fc.constantFrom('drop', 'rename', 'reshape', 'retype'),
      other: index,
    });
    let loads = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...originals),
        fc.array(ofConfig, { maxLength: 3 }),
        fc.array(ofTensor, { maxLength: 1 }),
        (original, keys, changes) => {
          const config: Record<string, unknown> = { ...original.config };
          const names = Object.keys(config);
          for (const { key, value } of keys) config[names[key % names.length]!] = value;
          const tensors = new Map(original.tensors);
          const paths = [...tensors.keys()];
          for (const { tensor, kind, other } of changes) {
            const name = paths[tensor % paths.length]!;
            const { shape, data } = tensors.get(name)!;
            if (kind !== 'reshape') tensors.delete(name);
            if (kind === 'rename') tensors.set(`${name}.${other}`, { dtype: 'F32', shape, data: data as Float32Array });
            if (kind === 'reshape')
              tensors.set(name, { dtype: 'F32', shape: [...shape, 1], data: data as Float32Array });
            if (kind === 'retype') tensors.set(name, { dtype: 'I32', shape, data: new Int32Array(data.length) });
          }
          try {
            load({ config, tensors });
            loads++;
          } catch (error) {
            if (!(error instanceof PosencError)) throw error;
            expect(error.message.length).toBeGreaterThan(20);
          }
        },
      ),
      { numRuns: 2000 },
    );
    expect(loads).toBeGreaterThan(100); // it does not refuse everything
  });

  it('an encoding the registry lacks', () => {
    refused(() => fromHuggingFace(golden('llama'), createRegistry([learned])), /no encoding is called "rope"/);
  });
});

describe('writing', () => {
  const llama = () => load(golden('llama'));
  it('keeps the keys that the model does not decide', () => {
    const { config } = toHuggingFace(llama(), registry);
    expect(config).toMatchObject({ bos_token_id: 1, max_position_embeddings: 128, rope_theta: 10000, vocab_size: 64 });
    expect(config).not.toHaveProperty('rope_parameters');
  });

  it('refuses what the family has no words for', () => {
    const loaded = llama();
    const as = (config: object, encoding: object = loaded.encoding) =>
      toHuggingFace({ ...loaded, model: { config: { ...loaded.model.config, ...config } }, encoding }, registry);
    refused(() => as({ norm: 'layernorm' }), /a llama checkpoint cannot express this model: its norm is "layernorm"/);
    refused(() => as({ causal: false }), /its causal is false, and would be read as true/);
    refused(() => as({}, { type: 'alibi' }), /a llama checkpoint cannot have the encoding "alibi"; it can have: rope/);
    refused(
      () => as({}, { type: 'rope', pairing: 'interleaved' }),
      /cannot express this encoding: its pairing is "interleaved"/,
    );
    refused(
      () => as({}, { type: 'rope', scaling: { type: 'ntk', factor: 2 } }),
      /config.json has no word for the rope scaling "ntk"/,
    );
    expect(() => as({ dropout: 0.1, initStd: 1 })).not.toThrow();
    refused(() => toHuggingFace({ ...loaded, family: 'lama' }, registry), /model_type "lama" is not supported/);
  });

  it('spells floats as transformers 5 wants them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'posenc floats '));
    afterAll(() => rmSync(folder, { recursive: true }));
    const source = { ...golden('gemma2').config, attn_logit_softcapping: 50, note: 'float 1.0 a' };
    writeHubFolder(folder, toHuggingFace(load({ ...golden('gemma2'), config: source }), registry));
    const text = readFileSync(join(folder, 'config.json'), 'utf8');
    for (const line of [
      '"attn_logit_softcapping": 50.0,',
      '"rope_theta": 10000.0,',
      '"hidden_size": 32,',
      '"rms_norm_eps": 0.000001,',
      '"note": "float 1.0 a"',
    ])
      expect(text).toContain(line);
    expect(load(readHubFolder(folder)).model.config.scoreSoftcap).toBe(50);
  });

  it('shortens lists by layer, and refuses what a family’s layers cannot be', () => {
    const loaded = load(golden('smollm3'));
    expect(loaded.encoding).toMatchObject({ type: 'perLayer', pattern: [0, 0, 0, 1] });
    expect(load(golden('qwen2-window')).model.config.slidingWindow).toEqual([null, 12, 12]);
    expect(load(golden('gemma2')).model.config.slidingWindow).toEqual([12, null]);
    expect(load(golden('qwen2')).model.config.slidingWindow).toBeUndefined();
    const of = [{ type: 'nope' }, { type: 'rope' }];
    refused(
      () => toHuggingFace({ ...loaded, encoding: { type: 'perLayer', of, pattern: [0, 1] } }, registry),
      'this checkpoint can have a perLayer encoding of rope and nope, in this order, and not of nope and rope',
    );
    const { model, ...rest } = load(golden('gemma2'));
    const windows = { ...model.config, slidingWindow: [12, 6] };
    refused(
      () => toHuggingFace({ ...rest, model: { config: windows } }, registry),
      /cannot express this model: its slidingWindow is \[12,6\], and would be read as 12/,
    );
  });

  it('refuses weights that are not the model’s', () => {
    const loaded = llama();
    const { 'norm.gain': gain, ...rest } = loaded.params;
    refused(() => toHuggingFace({ ...loaded, params: rest }, registry), /the weights have no "norm.gain" \[32\]/);
    const long = { ...gain!, shape: [33] };
    refused(
      () => toHuggingFace({ ...loaded, params: { ...rest, 'norm.gain': long } }, registry),
      /"norm.gain" is \[33\], and the model's \[32\]/,
    );
  });
});
