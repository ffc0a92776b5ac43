/** What one encoding costs beside NoPE, in this process and on its backend: both take turns, so that what else goes on here hits both. */
import {
  type Cache,
  createParams,
  disposeCache,
  disposeParams,
  explicit,
  type Grid,
  sliceColumns,
  startCache,
  type Transformer,
  type Variables,
} from '@posenc/core';
import { batchLoss } from '@posenc/training';
import * as tf from '@tensorflow/tfjs';
import type { EncodingCell } from './document.ts';
import { ratios, summarize } from './stats.ts';

/** A model with its parameters. */
export interface Subject {
  readonly model: Transformer;
  readonly params: Variables;
}

export const createSubject = (model: Transformer): Subject => ({ model, params: createParams(model.params, 1) });
export const disposeSubject = ({ params }: Subject): void => disposeParams(params);

export interface Effort {
  /** Turns of each: at least `least`, more while they take less than `seconds` altogether, at most `most`. */
  readonly least: number;
  readonly most: number;
  readonly seconds: number;
}

/** Tokens decoded one by one at the end of a sequence. */
export const decodedTokens = 8;

type Work = () => Promise<unknown>;

/** Measures `subject` at one length (more than `decodedTokens`), in turns with `nope`. Batch 1. */
export async function measureCell(
  subject: Subject,
  nope: Subject,
  length: number,
  effort: Effort,
): Promise<EncodingCell> {
  const last = subject.model.encoding.traits.maxPosition;
  if (length > last) return { length, status: 'undefined', reason: `defined below position ${last}` };
  const tokens = tokensOf(subject.model, length);
  const peaks = { subject: await peak(subject, tokens), nope: await peak(nope, tokens) };
  const forward = await inTurns(forwardOf(subject, tokens), forwardOf(nope, tokens), effort);
  const both = await inTurns(forwardBackwardOf(subject, tokens), forwardBackwardOf(nope, tokens), effort);
  const [ours, theirs] = [await prefill(subject, tokens), await prefill(nope, tokens)];
  const decode = await inTurns(decodeOf(subject, ours, tokens), decodeOf(nope, theirs, tokens), effort, decodedTokens);
  disposeCache(ours);
  disposeCache(theirs);
  const amount = (pick: 'tensors' | 'bytes') => ({
    value: peaks.subject[pick],
    ratio: peaks.subject[pick] / peaks.nope[pick],
  });
  return {
    length,
    status: 'measured',
    forward,
    forwardBackward: both,
    decode,
    peakTensors: amount('tensors'),
    peakBytes: amount('bytes'),
    heapBytes: heapBytes(),
  };
}

/** Any tokens do: nothing here depends on which. One more than `length`: the last target. */
const tokensOf = ({ config: { vocabSize } }: Transformer, length: number): Grid =>
  explicit([Array.from({ length: length + 1 }, (_, i) => (i * i * 31 + 7) % vocabSize)]);

const forwardOf =
  ({ model, params }: Subject, tokens: Grid): Work =>
  () =>
    read(() => model.forward(params, { tokens: sliceColumns(tokens, 0, tokens.cols - 1) }).logits);

const forwardBackwardOf =
  ({ model, params }: Subject, tokens: Grid): Work =>
  () =>
    read(() => gradients(model, params, tokens));

/** The gradient that a backward pass comes to last. */
function gradients(model: Transformer, params: Variables, tokens: Grid): tf.Tensor {
  const last = tokens.cols - 1;
  const batch = { tokens: sliceColumns(tokens, 0, last), targets: sliceColumns(tokens, 1, last + 1) };
  const { grads } = tf.variableGrads(() => batchLoss(model, params, batch), Object.values(params));
  return grads[params['embedding.tokens']!.name]!;
}

/** Computes a tensor, waits for one number of it (a graphics card has then done all), and frees everything. */
async function read(compute: () => tf.Tensor): Promise<void> {
  const first = tf.tidy(() => compute().flatten().slice(0, 1));
  await first.data();
  first.dispose();
}

async function prefill({ model, params }: Subject, tokens: Grid): Promise<Cache> {
  const length = tokens.cols - 1;
  const prompt = { tokens: sliceColumns(tokens, 0, length - decodedTokens) };
  const { logits, cache } = model.forward(params, prompt, { cache: startCache(length) });
  logits.dispose();
  return cache!;
}

/** `decodedTokens` tokens after the prompt, one by one. The prompt's cache stays. */
const decodeOf =
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

/** Most tensors and bytes alive at once in forward + backward, of this model alone. Warms it up as well. */
async function peak({ model, params }: Subject, tokens: Grid): Promise<{ tensors: number; bytes: number }> {
  const before = tf.memory();
  const work = () => tf.tidy(() => void gradients(model, params, tokens));
  const { kernels, peakBytes } = await tf.profile(work).catch((error: unknown) => {
    // A kernel that fails while tfjs profiles it fails with a TypeError of the profiler, which stays on: this says what it was.
    tf.engine().state.profiling = false;
    work();
    throw error;
  });
  const own = Object.values(params).reduce((bytes, { size }) => bytes + 4 * size, 0);
  return {
    tensors:
      kernels.reduce((most, k) => Math.max(most, k.totalTensorsSnapshot), 0) -
      before.numTensors +
      Object.keys(params).length,
    bytes: peakBytes - before.numBytes + own,
  };
}

/** Times both in turns: theirs, ours, theirs, ours … A short work is repeated within its turn. `parts`: units in a work. */
async function inTurns(ours: Work, theirs: Work, { least, most, seconds }: Effort, parts = 1) {
  await theirs();
  const once = await time(ours, 1);
  const repeats = Math.max(1, Math.min(20, Math.ceil(0.02 / once)));
  const times = { ours: [] as number[], theirs: [] as number[] };
  const end = performance.now() + 1000 * seconds;
  while (times.ours.length < least || (times.ours.length < most && performance.now() < end)) {
    times.theirs.push((await time(theirs, repeats)) / parts);
    times.ours.push((await time(ours, repeats)) / parts);
  }
  return { seconds: summarize(times.ours), ratio: ratios(times.ours, times.theirs) };
}

async function time(work: Work, repeats: number): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < repeats; i++) await work();
  return (performance.now() - started) / 1000 / repeats;
}

/** Size of a WebAssembly backend's memory, which never shrinks. */
function heapBytes(): number | null {
  const backend = tf.backend() as unknown as {
    readonly wasm?: { readonly HEAPU8?: Uint8Array };
    readonly memory?: unknown;
  };
  if (backend.wasm?.HEAPU8) return backend.wasm.HEAPU8.buffer.byteLength;
  return backend.memory instanceof WebAssembly.Memory ? backend.memory.buffer.byteLength : null;
}
