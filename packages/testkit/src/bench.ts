/** A transformer with weights at scale 1, and its logits on the host. Weights live on the host between calls. */
import {
  below,
  type Cache,
  createTransformer,
  disposeCache,
  type Encoding,
  explicit,
  type ForwardOptions,
  type Grid,
  type Input,
  normal,
  type ParamSpecs,
  sizeOf,
  startCache,
  stream,
  type Transformer,
  type Variables,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import type { Stack } from './stack.ts';

export type Weights = Readonly<Record<string, Float32Array>>;

export interface Bench {
  readonly stack: Stack;
  readonly encoding: Encoding;
  readonly model: Transformer;
  readonly weights: Weights;
}

/** [B, T, V] on the host. */
export interface Logits {
  readonly batch: number;
  readonly length: number;
  readonly width: number;
  readonly data: Float32Array;
}

/** Fills none of the holes. */
export const nothing: Encoding = {
  traits: {
    maxPosition: Number.POSITIVE_INFINITY,
    shiftInvariant: true,
    requiresCausal: false,
    readsPositions: false,
    readsSeqLen: false,
  },
  params: {},
  hooks: () => () => ({}),
};

export function createBench(stack: Stack, encoding: Encoding, seed: number): Bench {
  const model = createTransformer(stack.config, encoding);
  return { stack, encoding, model, weights: drawWeights(model.params, seed) };
}

/**
 * Weights under which everything matters: an encoding's parameters from N(0, 1) whatever their own start is; the model's
 * matrices from N(0, 1/rows), so that scores and logits have size 1; vectors near their start.
 */
export function drawWeights(specs: ParamSpecs, seed: number): Weights {
  const draw = ([path, { shape, init }]: [string, ParamSpecs[string]]) => {
    const random = stream(seed, path);
    const vector = shape.length === 1 && !path.startsWith('encoding.');
    const mean = vector && init.kind === 'constant' ? init.value : 0;
    const std = vector ? 0.1 : path.startsWith('encoding.') || path === 'embedding.tokens' ? 1 : shape[0]! ** -0.5;
    return [path, Float32Array.from({ length: sizeOf(shape) }, () => mean + std * normal(random))] as const;
  };
  return Object.fromEntries(Object.entries(specs).map(draw));
}

/** Uploads weights, hands them to `use`, and disposes them. */
export async function withParams<T>(
  specs: ParamSpecs,
  weights: Weights,
  use: (params: Variables) => T | Promise<T>,
): Promise<T> {
  const params: Record<string, tf.Variable> = {};
  for (const [path, { shape }] of Object.entries(specs))
    params[path] = tf.tidy(() => tf.variable(tf.tensor(weights[path]!, [...shape], 'float32')));
  try {
    return await use(params);
  } finally {
    for (const variable of Object.values(params)) variable.dispose();
  }
}

/** [rows, cols] tokens; the first columns are the same whatever `cols` is. */
export function tokensFor({ stack }: Bench, rows: number, cols: number, seed = 0): Grid {
  const row = (b: number) => {
    const random = stream(seed, `tokens/${b}`);
    return Array.from({ length: cols }, () => below(random, stack.config.vocabSize));
  };
  return explicit(Array.from({ length: rows }, (_, b) => row(b)));
}

export function logitsOf(bench: Bench, input: Input, weights: Weights = bench.weights): Promise<Logits> {
  return withParams(bench.model.params, weights, async (params) => {
    const { logits } = bench.model.forward(params, input);
    return download(logits);
  });
}

/** The same tokens read in chunks through one cache. `seqLen`: one per row or one for all. */
export function decodeIn(bench: Bench, inputs: readonly Input[], seqLen: number | readonly number[]): Promise<Logits> {
  return withParams(bench.model.params, bench.weights, async (params) => {
    let cache: Cache = startCache(seqLen);
    const parts: Logits[] = [];
    try {
      for (const input of inputs) {
        const options: ForwardOptions = { cache };
        const step = bench.model.forward(params, input, options);
        disposeCache(cache);
        cache = step.cache!;
        parts.push(await download(step.logits));
      }
    } finally {
      disposeCache(cache);
    }
    return joinTokens(parts);
  });
}

export async function download(logits: tf.Tensor3D): Promise<Logits> {
  const [batch, length, width] = logits.shape;
  try {
    return { batch, length, width, data: Float32Array.from(await logits.data()) };
  } finally {
    logits.dispose();
  }
}

/** Tokens [from, to) of row b. */
export function tokensOf(logits: Logits, b: number, from = 0, to = logits.length): Logits {
  const start = b * logits.length * logits.width;
  const data = logits.data.subarray(start + from * logits.width, start + to * logits.width);
  return { batch: 1, length: to - from, width: logits.width, data };
}

/** Tokens [from, to) of every row. */
export function columnsOf(logits: Logits, from: number, to: number): Logits {
  return joinRows(Array.from({ length: logits.batch }, (_, b) => tokensOf(logits, b, from, to)));
}

export function joinRows(parts: readonly Logits[]): Logits {
  const [first] = parts as [Logits, ...Logits[]];
  const data = new Float32Array(parts.reduce((size, part) => size + part.data.length, 0));
  let filled = 0;
  for (const part of parts) {
    data.set(part.data, filled);
    filled += part.data.length;
  }
  return { ...first, batch: parts.reduce((rows, part) => rows + part.batch, 0), data };
}

/** One after another along the tokens, row by row. */
export function joinTokens(parts: readonly Logits[]): Logits {
  const [first] = parts as [Logits, ...Logits[]];
  const length = parts.reduce((cols, part) => cols + part.length, 0);
  const rows = Array.from({ length: first.batch }, (_, b) => {
    const pieces = parts.map((part) => tokensOf(part, b));
    return { ...joinRows(pieces), batch: 1, length };
  });
  return joinRows(rows);
}
