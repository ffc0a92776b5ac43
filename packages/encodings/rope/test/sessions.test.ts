/**
 * Scalings that follow the length of a sequence, in models of two layers, against transformers 5.24.0 (golden/models):
 * a decoding session fixes the length, so that its cache equals one pass; `seqLen: 'grow'` is what transformers gives without a cache.
 */
import { disposeCache, explicit, generate, type Params, startCache, type Transformer } from '@posenc/core';
import { fromHuggingFace, type RopeOptions } from '@posenc/rope';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { deviation, load } from './golden.ts';
import { type LlamaConfig, loadLlama } from './llama.ts';

interface Expected {
  readonly inputs: { readonly input_ids: number[][]; readonly attention_mask: number[][] };
  readonly tolerance: { readonly logits_abs: number };
  readonly alone: readonly { readonly positions: number[]; readonly logits: number[][] }[];
  readonly generate: {
    readonly rows: readonly {
      readonly tokens: number[];
      readonly same_without_cache: boolean;
      readonly tokens_without_cache?: number[];
    }[];
  };
}

beforeAll(() => tf.setBackend('cpu'));

const configs = load<Record<string, { config: LlamaConfig }>>('models/configs');

describe.each(['llama-dynamic', 'llama-longrope'])('%s', (name) => {
  const expected = load<Expected>(`models/${name}/expected`);
  const { type: _, ...options } = fromHuggingFace(configs[name]!.config) as { type: 'rope' } & RopeOptions;
  const trained = (options.scaling as { originalMaxPositionEmbeddings: number }).originalMaxPositionEmbeddings;
  let model: Transformer;
  let params: Params;
  beforeAll(() => {
    ({ model, params } = loadLlama(name, configs[name]!.config, options));
  });
  /** Without its padding. */
  const row = (r: number) => expected.inputs.input_ids[r]!.filter((_, t) => expected.inputs.attention_mask[r]![t]);

  const onePass = (tokens: readonly number[], seqLen: number) =>
    tf.tidy(() => model.forward(params, { tokens: explicit([tokens]), seqLen }).logits.dataSync() as Float32Array);

  /** In chunks of these sizes through one cache. */
  function inChunks(tokens: readonly number[], sizes: readonly number[], seqLen: number): number[] {
    let cache = startCache(seqLen);
    const read: number[] = [];
    for (let at = 0, i = 0; at < tokens.length; at += sizes[i++ % sizes.length]!) {
      const chunk = tokens.slice(at, at + sizes[i % sizes.length]!);
      const { logits, cache: grown } = model.forward(params, { tokens: explicit([chunk]) }, { cache });
      read.push(...logits.dataSync());
      logits.dispose();
      disposeCache(cache);
      cache = grown!;
    }
    disposeCache(cache);
    return read;
  }

  it.each([0, 1])('logits of row %i alone', (r) => {
    const tokens = row(r);
    const { positions, logits } = expected.alone[r]!;
    const ours = onePass(tokens, tokens.length);
    const { vocabSize } = model.config;
    const picked = positions.flatMap((t) => Array.from(ours.subarray(t * vocabSize, (t + 1) * vocabSize)));
    expect(deviation(picked, logits.flat())).toBeLessThan(expected.tolerance.logits_abs / 10);
  });

  it.each([0, 1])('growing: row %i continues as transformers does without a cache', (r) => {
    const { tokens, same_without_cache: same, tokens_without_cache: without } = expected.generate.rows[r]!;
    expect(same).toBe(without === undefined);
    expect(generate(model, params, row(r), { maxNewTokens: 12, seqLen: 'grow' })).toEqual(without ?? tokens);
  });

  it.each([[[1]], [[5, 1, 3]], [[20, 7]]])('a session across the switch, in chunks of %j, is one pass', (sizes) => {
    const tokens = row(0).slice(0, trained + 6);
    expect(tokens.length).toBeGreaterThan(trained);
    const whole = onePass(tokens, tokens.length);
    expect(deviation(inChunks(tokens, sizes, tokens.length), whole)).toBeLessThan(2e-5);
    // The length is what matters: told the trained one, the same tokens give other logits.
    expect(deviation(onePass(tokens, trained), whole)).toBeGreaterThan(0.01);
  });

  it('a session opened for a longer text than the prompt reads the prompt as part of that text', () => {
    const tokens = row(0).slice(0, trained - 4);
    const long = inChunks(tokens, [6], trained + 12);
    expect(deviation(long, onePass(tokens, trained + 12))).toBeLessThan(2e-5);
    expect(deviation(long, onePass(tokens, trained))).toBeGreaterThan(0.01);
  });
});
