/** The standard step: decoder, 4 layers, modelDim 128, 4 heads, batch 16 × 128, vocabulary 64, AdamW. */
import * as tf from '@tensorflow/tfjs';
import {
  attention,
  createMask,
  createParams,
  createTransformer,
  dimsOf,
  disposeCache,
  type Encoding,
  range,
  resolveModel,
  startCache,
  type Transformer,
} from '../../core/src/index.ts';
import { nope } from '../../encodings/nope/src/index.ts';
import { startSession, trainingSchema, trainStep } from '../../training/src/index.ts';
import type { SimdBackend } from '../src/index.ts';

export interface StepSizes {
  readonly batchSize: number;
  readonly length: number;
  readonly numLayers: number;
}
export const standard: StepSizes = { batchSize: 16, length: 128, numLayers: 4 };

const vocabSize = 64;

type Build = (dims: ReturnType<typeof dimsOf>) => Encoding;
export const withoutPositions: Build = (dims) => nope.create({}, dims);

function modelOf({ numLayers }: StepSizes, build: Build): Transformer {
  const model = resolveModel({ vocabSize, modelDim: 128, numHeads: 4, numLayers });
  return createTransformer(model, build(dimsOf(model)));
}

/** Creates parameters on the current backend; each call of `step` trains on one batch and reads the loss. */
export function createStep(sizes: StepSizes = standard, build: Build = withoutPositions) {
  const { batchSize, length } = sizes;
  const config = trainingSchema.parse({ length, batchSize, steps: 1_000_000 });
  const session = startSession(modelOf(sizes, build), config, 1);
  const grid = (factor: number) => ({
    rows: batchSize,
    cols: length,
    data: Int32Array.from({ length: batchSize * length }, (_, i) => (i * i * factor + 7 * i) % vocabSize),
  });
  const batch = { tokens: grid(31), targets: grid(17) };
  const task = { trainBatch: () => batch } as unknown as Parameters<typeof trainStep>[1];
  return { step: () => trainStep(session, task, config, 1), dispose: () => session.dispose() };
}

/** One new token after T − 1 cached ones, and all T tokens at once. */
export function createDecoding(T: number) {
  const model = modelOf(standard, withoutPositions);
  const params = createParams(model.params, 1);
  const tokens = { rows: 1, cols: T, data: range(T).data.map((t) => (t * t) % vocabSize) };
  const cut = (from: number, to: number) => ({ rows: 1, cols: to - from, data: tokens.data.slice(from, to) });
  const first = model.forward(params, { tokens: cut(0, T - 1) }, { cache: startCache(T) });
  const read = (logits: tf.Tensor) => {
    logits.dataSync();
    logits.dispose();
  };
  return {
    cached() {
      const { logits, cache } = model.forward(params, { tokens: cut(T - 1, T) }, { cache: first.cache! });
      disposeCache(cache!);
      read(logits);
    },
    full: () => read(model.forward(params, { tokens }).logits),
  };
}

/** Bytes at the peak of attention forward and backward, 4 heads of 32, causal. */
export function attentionPeak({ allocator }: SimdBackend, T: number): number {
  return tf.tidy(() => {
    const x = tf.randomNormal([1, 4, T, 32]);
    const context = { mask: createMask({ causal: true, numQueries: T, numKeys: T }), scoreScale: 0.2 };
    const attend = (u: tf.Tensor4D) => attention(u, u, u, {}, context);
    const before = allocator.bytesInUse;
    allocator.resetPeak();
    tf.grad((u) => tf.sum(attend(u as tf.Tensor4D)))(x);
    return allocator.bytesAtPeak - before;
  }) as unknown as number;
}

/** Milliseconds by kernel of one step, largest first, of the kernels called from outside. */
export async function profile(step: () => Promise<unknown>): Promise<[string, number, number][]> {
  const spent = new Map<string, { ms: number; calls: number }>();
  const backend = tf.getBackend();
  const kernels = tf.getKernelsForBackend(backend);
  let depth = 0;
  for (const kernel of kernels) {
    const { kernelFunc, kernelName } = kernel;
    kernel.kernelFunc = (args) => {
      const start = performance.now();
      depth++;
      const result = kernelFunc(args);
      depth--;
      const entry = spent.get(kernelName) ?? { ms: 0, calls: 0 };
      if (depth === 0) spent.set(kernelName, { ms: entry.ms + performance.now() - start, calls: entry.calls + 1 });
      return result;
    };
    restore.push(() => {
      kernel.kernelFunc = kernelFunc;
    });
  }
  const start = performance.now();
  await step();
  const total = performance.now() - start;
  for (const undo of restore.splice(0)) undo();
  const rows = [...spent].map(([name, { ms, calls }]): [string, number, number] => [name, ms, calls]);
  rows.sort((a, b) => b[1] - a[1]);
  const inside = rows.reduce((sum, [, ms]) => sum + ms, 0);
  return [['(whole step)', total, 1], ['(outside kernels)', total - inside, 0], ...rows];
}
const restore: (() => void)[] = [];
