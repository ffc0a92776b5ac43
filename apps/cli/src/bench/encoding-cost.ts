/** What one encoding costs beside NoPE, in this process and on its backend: both take turns, so that what else goes on here hits both. */
import { disposeCache, type Grid } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import type { EncodingCell } from './document.ts';
import { bytesAtPeak, heapBytes } from './memory.ts';
import { ratios, summarize } from './stats.ts';
import {
  decodedTokens,
  decodeOf,
  forwardBackwardOf,
  forwardOf,
  gradients,
  prefill,
  type Subject,
  time,
  tokensOf,
  type Work,
} from './work.ts';

export interface Effort {
  /** Turns of each: at least `least`, more while they take less than `seconds` altogether, at most `most`. */
  readonly least: number;
  readonly most: number;
  readonly seconds: number;
}

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
  // What the backend counts, scratch memory included; else the tensors that tfjs knows of.
  const counted = bytesAtPeak(work);
  const own = Object.values(params).reduce((bytes, { size }) => bytes + 4 * size, 0);
  return {
    tensors:
      kernels.reduce((most, k) => Math.max(most, k.totalTensorsSnapshot), 0) -
      before.numTensors +
      Object.keys(params).length,
    bytes: (counted ?? peakBytes - before.numBytes) + own,
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
