/**
 * Native TensorFlow through its Node binding. Both packages register the tfjs backend 'tensorflow', so that a process
 * can have one of them. They are optional peers: their install script downloads some 200 MB and fails without a network.
 */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';
import { installCommand, loadOptional } from './optional-package.ts';
import { BackendUnavailable } from './unavailable.ts';

type Name = 'tensorflow' | 'tensorflow-gpu';
const packages = { tensorflow: '@tensorflow/tfjs-node', 'tensorflow-gpu': '@tensorflow/tfjs-node-gpu' } as const;

let loaded: Name | undefined;

export async function prepareTensorFlow(name: Name): Promise<BackendInfo> {
  if (loaded && loaded !== name)
    throw new BackendUnavailable(name, `this process already uses '${loaded}'; start another one`);
  restoreRemovedUtilities();
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2'; // Warnings and errors only.
  process.env.TF_FORCE_GPU_ALLOW_GROWTH ??= 'true'; // Several trials may share one graphics card.

  const packageName = packages[name];
  const binding = loadOptional(name, packageName, {
    ofTfjs: true,
    repair: `npm rebuild ${packageName} --build-addon-from-source`,
  });
  if (!binding)
    throw new BackendUnavailable(
      name,
      `the package ${packageName} is not installed`,
      installCommand([`${packageName}@${tf.version['tfjs-core']}`], [packageName]),
    );
  loaded = name;
  await tf.setBackend('tensorflow');
  const backend = tf.backend() as unknown as { isUsingGpuDevice: boolean; binding: { TF_Version: string } };
  if (name === 'tensorflow-gpu' && !backend.isUsingGpuDevice)
    throw new BackendUnavailable(
      name,
      `${packageName} loads but finds no graphics card it can use: look at what nvidia-smi says and at the CUDA libraries`,
    );
  const where = backend.isUsingGpuDevice ? 'on the graphics card' : 'on all processor cores';
  return {
    name,
    version: binding.version,
    variant: `libtensorflow ${backend.binding.TF_Version}`,
    threads: Number(process.env.TF_NUM_INTRAOP_THREADS) || availableParallelism(),
    description: `native TensorFlow ${backend.binding.TF_Version} ${where}`,
  };
}

/** tfjs-node 4.22 calls two functions: Node 23 removed one, and the other warns on every start. */
function restoreRemovedUtilities(): void {
  const util = createRequire(import.meta.url)('node:util') as object;
  Object.assign(util, {
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isArray: Array.isArray,
  });
}
