/** Generation: greedy or sampled, with a cache whose `seqLen` is fixed, or re-reading the text at every step. */
import * as tf from '@tensorflow/tfjs';
import { type Cache, disposeCache, startCache } from './cache.ts';
import { PosencError } from './errors.ts';
import type { Params } from './params.ts';
import { explicit } from './positions.ts';
import { type Random, uniform } from './random.ts';
import type { Transformer } from './transformer.ts';

/** How tokens are chosen, how many, and what the encoding is told of the length. */
export interface GenerateOptions {
  readonly maxNewTokens: number;
  /** 0 (default): the most likely token. */
  readonly temperature?: number;
  /** Sample among the k most likely. */
  readonly topK?: number;
  /** Needed when temperature > 0. */
  readonly random?: Random;
  /**
   * Length that encodings which read it (dynamic NTK, LongRoPE) are told. Default: prompt + new tokens, fixed.
   * 'grow': the current length, re-reading everything at each step, as Hugging Face does without a cache.
   */
  readonly seqLen?: number | 'grow';
  /** Stops after producing this token. */
  readonly stopToken?: number;
  readonly onToken?: (token: number) => void;
}

/** Continues a prompt by up to `maxNewTokens` tokens and returns the new ones. */
export function generate(
  model: Transformer,
  params: Params,
  prompt: readonly number[],
  options: GenerateOptions,
): number[] {
  if (prompt.length === 0)
    throw new PosencError('the prompt is empty: generation needs at least one token to go on from');
  const total = prompt.length + options.maxNewTokens;
  const next = options.seqLen === 'grow' ? rereading(model, params) : caching(model, params, options.seqLen ?? total);
  const produced: number[] = [];
  try {
    while (produced.length < options.maxNewTokens) {
      const token = choose(next.logits([...prompt, ...produced]), options);
      produced.push(token);
      options.onToken?.(token);
      if (token === options.stopToken) break;
    }
  } finally {
    next.dispose();
  }
  return produced;
}

interface Reader {
  /** Logits after the last token of the text so far. */
  logits(text: readonly number[]): Float32Array;
  dispose(): void;
}

function rereading(model: Transformer, params: Params): Reader {
  return {
    logits: (text) => tf.tidy(() => lastRow(model.forward(params, { tokens: explicit([text]) }).logits)),
    dispose() {},
  };
}

function caching(model: Transformer, params: Params, seqLen: number): Reader {
  let cache: Cache = startCache(seqLen);
  let read = 0;
  return {
    logits(text) {
      const { logits, cache: grown } = model.forward(params, { tokens: explicit([text.slice(read)]) }, { cache });
      disposeCache(cache);
      cache = grown!;
      read = text.length;
      const row = lastRow(logits);
      logits.dispose();
      return row;
    },
    dispose: () => disposeCache(cache),
  };
}

function lastRow(logits: tf.Tensor3D): Float32Array {
  const [, length, vocabSize] = logits.shape;
  return tf.tidy(() => tf.slice(logits, [0, length - 1, 0], [1, 1, vocabSize]).dataSync() as Float32Array);
}

function choose(logits: Float32Array, { temperature = 0, topK, random }: GenerateOptions): number {
  const order = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
  if (temperature === 0) return order[0]!;
  if (!random) throw new TypeError('generate: temperature > 0 needs `random`');
  const candidates = order.slice(0, topK ?? order.length);
  const weights = candidates.map((token) => Math.exp((logits[token]! - logits[candidates[0]!]!) / temperature));
  let left = uniform(random) * weights.reduce((a, b) => a + b, 0);
  for (const [i, token] of candidates.entries()) {
    left -= weights[i]!;
    if (left < 0) return token;
  }
  return candidates.at(-1)!;
}
