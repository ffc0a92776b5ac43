/** The tiny checkpoints of golden/models against what transformers computed from them. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alibi } from '@posenc/alibi';
import { useBackend } from '@posenc/backend';
import {
  createRegistry,
  crossEntropy,
  disposeCache,
  disposeParams,
  explicit,
  type Grid,
  generate,
  type Input,
  type Params,
  range,
  startCache,
  type Transformer,
} from '@posenc/core';
import { deberta } from '@posenc/deberta';
import { learned } from '@posenc/learned';
import { nope } from '@posenc/nope';
import { rope } from '@posenc/rope';
import { transformerXl } from '@posenc/transformer-xl';
import type { Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadHuggingFace, readSafetensors, saveHuggingFace, toVariables } from '../src/index.ts';
import { expectedOf, folders, hasLegacyConfig, modelsFolder } from './support/reference.ts';

await tf.setBackend('cpu'); // `perLayer` asks its members for their hooks when it is created
const registry = createRegistry([alibi, deberta, learned, nope, rope, transformerXl]);
const scratch = mkdtempSync(join(tmpdir(), 'posenc hugging face '));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Families that count positions over columns, padding included, unless told otherwise. */
const countsColumns = ['bert', 'gpt-neo', 'gpt2'];

const largest = (a: readonly number[], b: readonly number[]) => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

it('covers the five families that were promised', () => {
  expect(folders).toEqual(expect.arrayContaining(['bert', 'bloom', 'gpt-neox', 'gpt2', 'llama']));
});

describe.each(folders)('%s', (folder) => {
  const expected = expectedOf(folder);
  const { input_ids: ids, attention_mask: masks, position_ids } = expected.inputs;
  const tolerance = expected.tolerance.logits_abs;
  const loaded = loadHuggingFace(join(modelsFolder, folder), registry);
  const { model } = loaded;
  let params: Params;
  beforeAll(() => {
    params = toVariables(loaded.params);
  });
  afterAll(() => disposeParams(params));

  const real = (r: number) => ids[r]!.slice(-expected.alone[r]!.length);
  const logitsOf = (input: Input, weights = params) =>
    tf.tidy(() => model.forward(weights, input).logits.arraySync()) as number[][][];

  it.each([0, 1])('row %i alone: logits, loss of every token, perplexity', (r) => {
    const { positions, logits, token_nll, loss, perplexity, length } = expected.alone[r]!;
    const row = real(r);
    const got = logitsOf({ tokens: explicit([row]) })[0]!;
    positions.forEach((p, i) => {
      expect(largest(logits[i]!, got[p]!)).toBeLessThan(tolerance);
    });

    const shift = expected.kind === 'causal-lm' ? 1 : 0; // a causal model predicts the next token
    const scored = tf.tensor2d(got.slice(0, length - shift));
    const nll = Array.from(crossEntropy(scored as Tensor2D, Int32Array.from(row.slice(shift))).dataSync());
    expect(nll).toHaveLength(token_nll.length);
    expect(largest(token_nll, nll)).toBeLessThan(expected.tolerance.token_nll_abs);
    const mean = nll.reduce((a, b) => a + b, 0) / nll.length;
    expect(Math.abs(mean - loss)).toBeLessThan(expected.tolerance.token_nll_abs);
    expect(Math.abs(Math.exp(mean) / perplexity - 1)).toBeLessThan(expected.tolerance.perplexity_rel);
  });

  it('both rows alone on WebAssembly', async () => {
    await useBackend('simd');
    const moved = toVariables(loaded.params);
    expected.alone.forEach(({ positions, logits }, r) => {
      const got = logitsOf({ tokens: explicit([real(r)]) }, moved)[0]!;
      positions.forEach((p, i) => {
        expect(largest(logits[i]!, got[p]!)).toBeLessThan(tolerance);
      });
    });
    disposeParams(moved);
    await tf.setBackend('cpu');
  });

  // Where the length of a sequence matters, Hugging Face takes the longest row's for all, and cached keys keep what was right
  // when they were made; here each row has its own, and a decoding session its final one, unless told otherwise.
  const { readsSeqLen } = model.encoding.traits;
  const padded = (positions?: Grid) =>
    logitsOf({
      tokens: explicit(ids),
      mask: explicit(masks),
      ...(positions && { positions }),
      ...(readsSeqLen && { seqLen: ids[0]!.length }),
    });
  it('both rows, the second left-padded, positions as Hugging Face counts them', () => {
    const got = padded(countsColumns.includes(folder) ? range(ids[0]!.length) : undefined);
    expected.batch.logits.forEach((row, r) => {
      row.forEach((logits, i) => {
        expect(largest(logits, got[r]![expected.batch.columns[i]!]!)).toBeLessThan(tolerance);
      });
    });
  });

  if (expected.batch_explicit_position_ids)
    it('both rows, with position_ids, which are our default', () => {
      const { columns, logits } = expected.batch_explicit_position_ids!;
      for (const got of [padded(explicit(position_ids)), padded()])
        logits.forEach((row, r) => {
          row.forEach((wanted, i) => {
            expect(largest(wanted, got[r]![columns[i]!]!)).toBeLessThan(tolerance);
          });
        });
    });

  if (expected.generate)
    it('greedy continuations, with a cache and without', () => {
      const { rows, max_new_tokens: maxNewTokens } = expected.generate!;
      rows.forEach(({ tokens, tokens_without_cache = tokens }, r) => {
        if (!readsSeqLen) expect(generate(model, params, real(r), { maxNewTokens })).toEqual(tokens);
        expect(generate(model, params, real(r), { maxNewTokens, seqLen: 'grow' })).toEqual(tokens_without_cache);
      });
    });

  if (expected.generate && !readsSeqLen)
    it('greedy continuations of both rows at once, the second left-padded', () => {
      const { rows, max_new_tokens } = expected.generate!;
      expect(rows.every((row) => row.same_in_left_padded_batch)).toBe(true);
      expect(greedyBatch(model, params, ids, masks, max_new_tokens)).toEqual(rows.map(({ tokens }) => tokens));
    });

  if (hasLegacyConfig(folder))
    it('the keys of transformers 4 say the same', () => {
      const old = join(scratch, `${folder} legacy`);
      cpSync(join(modelsFolder, folder), old, { recursive: true });
      cpSync(join(modelsFolder, folder, 'config.legacy.json'), join(old, 'config.json'));
      const again = loadHuggingFace(old, registry);
      expect(again.model.config).toEqual(model.config);
      expect(again.encoding).toEqual(loaded.encoding);
      expect(again.params).toEqual(loaded.params);
    });

  it('written and read again it is the same, its tensors byte for byte', () => {
    const copy = join(scratch, folder);
    saveHuggingFace(copy, loaded, registry);
    const again = loadHuggingFace(copy, registry);
    expect(again.model.config).toEqual(model.config);
    expect(again.encoding).toEqual(loaded.encoding);
    expect(again.params).toEqual(loaded.params);

    const [before, after] = [join(modelsFolder, folder), copy].map(
      (path) => readSafetensors(join(path, 'model.safetensors')).tensors,
    ) as [ReturnType<typeof readSafetensors>['tensors'], ReturnType<typeof readSafetensors>['tensors']];
    const used = [...before].filter(([name]) => !loaded.ignored.some((ignored) => ignored.name === name));
    const today = (name: string) => name.replace(/gamma$/, 'weight').replace(/beta$/, 'bias'); // ESM has the older names
    expect([...after.keys()].sort()).toEqual(used.map(([name]) => today(name)).sort());
    for (const [old, { shape, data }] of used) {
      const name = today(old);
      const { buffer, byteOffset, byteLength } = after.get(name)!.data;
      expect(after.get(name)!.shape).toEqual(shape);
      const bytes = Buffer.from(buffer, byteOffset, byteLength);
      expect(bytes.equals(Buffer.from(data.buffer, data.byteOffset, data.byteLength)), name).toBe(true);
    }
  });
});

/** The most likely token of every row, again and again, with one cache for all rows. */
function greedyBatch(
  model: Transformer,
  params: Params,
  ids: readonly (readonly number[])[],
  masks: readonly (readonly number[])[],
  numNew: number,
): number[][] {
  const lengths = masks.map((row) => row.reduce((a, b) => a + b, 0) + numNew);
  let cache = startCache(lengths);
  let input: Input = { tokens: explicit(ids), mask: explicit(masks) };
  const produced: number[][] = ids.map(() => []);
  for (let step = 0; step < numNew; step++) {
    const { logits, cache: grown } = model.forward(params, input, { cache });
    const last = tf.tidy(() => tf.argMax(tf.slice(logits, [0, input.tokens.cols - 1, 0], [-1, 1, -1]), 2).dataSync());
    logits.dispose();
    disposeCache(cache);
    cache = grown!;
    last.forEach((token, r) => {
      produced[r]!.push(token);
    });
    input = { tokens: explicit(produced.map((row) => row.slice(-1))) };
  }
  disposeCache(cache);
  return produced;
}
