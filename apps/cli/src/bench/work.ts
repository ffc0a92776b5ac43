/** What is timed of a model: a forward pass, a forward and backward pass, tokens decoded through the cache. */
import {
  type Cache,
  createParams,
  disposeCache,
  explicit,
  type Grid,
  sliceColumns,
  startCache,
  type Transformer,
  type Variables,
} from '@posenc/core';
import { batchLoss } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import { secondsSince } from './serve.ts';

/** A model with its parameters. */
export interface Subject {
  readonly model: Transformer;
  readonly params: Variables;
}

export const createSubject = (model: Transformer): Subject => ({ model, params: createParams(model.params, 1) });

/** Tokens decoded one by one at the end of a sequence. */
export const decodedTokens = 8;

export type Work = () => Promise<unknown>;

/** Any tokens do: nothing here depends on which. One more than `length`: the last target. */
export const tokensOf = ({ config: { vocabSize } }: Transformer, length: number): Grid =>
  explicit([Array.from({ length: length + 1 }, (_, i) => (i * i * 31 + 7) % vocabSize)]);

/** All tokens of a sequence at once. */
export const forwardOf =
  ({ model, params }: Subject, tokens: Grid): Work =>
  () =>
    read(() => model.forward(params, { tokens: sliceColumns(tokens, 0, tokens.cols - 1) }).logits);

/** The same with the gradients of all parameters. */
export const forwardBackwardOf =
  ({ model, params }: Subject, tokens: Grid): Work =>
  () =>
    read(() => gradients(model, params, tokens));

/** The gradient that a backward pass comes to last. */
export function gradients(model: Transformer, params: Variables, tokens: Grid): tf.Tensor {
  const last = tokens.cols - 1;
  const batch = { tokens: sliceColumns(tokens, 0, last), targets: sliceColumns(tokens, 1, last + 1) };
  const { grads } = tf.variableGrads(() => batchLoss(model, params, batch), Object.values(params));
  return grads[params['embedding.tokens']!.name]!;
}

/** Computes a tensor, waits for one number of it (a graphics card has then done all), and frees everything. */
export async function read(compute: () => tf.Tensor): Promise<void> {
  const first = tf.tidy(() => compute().flatten().slice(0, 1));
  await first.data();
  first.dispose();
}

/** The cache after all but the last `decodedTokens` of a sequence. */
export async function prefill({ model, params }: Subject, tokens: Grid): Promise<Cache> {
  const length = tokens.cols - 1;
  const prompt = { tokens: sliceColumns(tokens, 0, length - decodedTokens) };
  const { logits, cache } = model.forward(params, prompt, { cache: startCache(length) });
  logits.dispose();
  return cache!;
}

/** `decodedTokens` tokens after the prompt, one by one. The prompt's cache stays. */
export const decodeOf =
  ({ model, params }: Subject, prompt: Cache, tokens: Grid): Work =>
  async () => {
    let cache = prompt;
    for (let t = tokens.cols - 1 - decodedTokens; t < tokens.cols - 1; t++) {
      const out = model.forward(params, { tokens: sliceColumns(tokens, t, t + 1) }, { cache });
      await out.logits.data();
      out.logits.dispose();
      if (cache !== prompt) disposeCache(cache);
      cache = out.cache!;
    }
    disposeCache(cache);
  };

/** Mean seconds of a work. */
export async function time(work: Work, repeats: number): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < repeats; i++) await work();
  return secondsSince(started) / repeats;
}
