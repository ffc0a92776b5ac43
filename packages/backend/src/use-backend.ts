/** The one call: picks a TensorFlow.js backend, prepares it and makes it current. */
import { PosencError } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { prepareCpu } from './cpu.ts';
import { type BackendInfo, type BackendName, backendNames } from './names.ts';
import { prepareSimd } from './simd.ts';
import { prepareTensorFlow } from './tensorflow.ts';
import { prepareWasm } from './wasm.ts';
import { prepareWebGpu } from './webgpu.ts';

const prepare: { readonly [N in BackendName]: () => Promise<BackendInfo> } = {
  auto: prepareWasm,
  cpu: prepareCpu,
  wasm: prepareWasm,
  simd: prepareSimd,
  tensorflow: () => prepareTensorFlow('tensorflow'),
  'tensorflow-gpu': () => prepareTensorFlow('tensorflow-gpu'),
  webgpu: prepareWebGpu,
};

/**
 * Makes a backend current for all tfjs operations of this process; tensors of another backend move when they are used.
 *
 * `auto` is `wasm`: the same numbers on every machine, and no start-up cost. Ask for `tensorflow` by name.
 *
 * Throws PosencError when the name is unknown, or when the backend cannot be had here: the message says why and which
 * command gets it. The current backend then stays as it was.
 */
export async function useBackend(name: BackendName): Promise<BackendInfo> {
  if (!backendNames.includes(name))
    throw new PosencError(`There is no backend '${name}'. Choose one of: ${backendNames.join(', ')}.`);
  const before = tf.getBackend();
  try {
    return await prepare[name]();
  } catch (error) {
    if (before && tf.getBackend() !== before) await tf.setBackend(before);
    throw error;
  }
}
