/** The one call: picks a TensorFlow.js backend, prepares it and makes it current. */
import { PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { chooseAuto } from './auto.ts';
import { prepareCpu } from './cpu.ts';
import { type BackendInfo, type BackendName, backendNames } from './names.ts';
import { prepareSimd } from './simd.ts';
import { prepareTensorFlow } from './tensorflow.ts';
import { checkThreads } from './threads.ts';
import { prepareWasm } from './wasm.ts';
import { prepareWebGpu } from './webgpu.ts';

/** How a backend is set up. */
export interface BackendOptions {
  /** Threads that compute, 1 … 256, where the backend has them; default `POSENC_THREADS`, else one per core. */
  readonly threads?: number;
}

const prepare: { readonly [N in BackendInfo['name']]: (threads?: number) => Promise<BackendInfo> } = {
  cpu: prepareCpu,
  wasm: prepareWasm,
  simd: prepareSimd,
  tensorflow: (threads) => prepareTensorFlow('tensorflow', threads),
  'tensorflow-gpu': (threads) => prepareTensorFlow('tensorflow-gpu', threads),
  webgpu: prepareWebGpu,
};

/**
 * Makes a backend current for all tfjs operations of this process; tensors of another backend move when they are used.
 *
 * `auto` is `simd`, unless a native backend is installed and clearly faster in a short measurement, which is kept
 * (`chooseAuto`); the result's `chosen` then says so. It never falls back to another backend than the one it names.
 *
 * Throws PosencError when the name is unknown, `threads` is no number of threads, or the backend cannot be had here: the message says why and which
 * command gets it. The current backend then stays as it was.
 */
export async function useBackend(name: BackendName, { threads }: BackendOptions = {}): Promise<BackendInfo> {
  if (!backendNames.includes(name))
    throw new PosencError(`There is no backend '${name}'. Choose one of: ${backendNames.join(', ')}.`);
  if (threads !== undefined) checkThreads(threads);
  const before = tf.getBackend();
  try {
    if (name !== 'auto') return await prepare[name](threads);
    const { name: chosen, reason } = await chooseAuto(threads);
    return { ...(await prepare[chosen](threads)), ...(reason && { chosen: reason }) };
  } catch (error) {
    if (before && tf.getBackend() !== before) await tf.setBackend(before);
    throw error;
  }
}
