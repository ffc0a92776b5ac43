/**
 * Native TensorFlow through its Node binding. Both packages register the tfjs backend 'tensorflow', so that a process
 * can have one of them. They are optional peers: their install script downloads some 200 MB and fails where that host
 * cannot be reached; `posenc doctor --install` sets them up there too, in a folder of posenc's own.
 */
import { createRequire } from 'node:module';
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';
import { dataFolder, type NativeName, nativeFolder } from './native/folder.ts';
import { recipes } from './native/recipe.ts';
import { readRecord } from './native/record.ts';
import { type Found, findOptional, loadOptional } from './optional-package.ts';
import { defaultThreads } from './threads.ts';
import { BackendUnavailable } from './unavailable.ts';

let loaded: NativeName | undefined;

/** Where the package of a native backend is, without loading it. */
export const findNative = (name: NativeName): Found | undefined =>
  findOptional(recipes[name].npmPackage, [nativeFolder(name)]);

export async function prepareTensorFlow(name: NativeName, threads: number = defaultThreads()): Promise<BackendInfo> {
  if (loaded && loaded !== name)
    throw new BackendUnavailable(name, `this process already uses '${loaded}'; start another one`);
  restoreRemovedUtilities();
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2'; // Errors only.
  process.env.TF_FORCE_GPU_ALLOW_GROWTH ??= 'true'; // Several trials may share one graphics card.
  process.env.NVIDIA_TF32_OVERRIDE ??= '0'; // float32 means float32: TF32 products keep 10 bits of a fraction.
  // TensorFlow reads them once, when it makes its pools of threads.
  process.env.TF_NUM_INTRAOP_THREADS ??= String(threads);
  process.env.TF_NUM_INTEROP_THREADS ??= String(threads);

  const packageName = recipes[name].npmPackage;
  const install = `posenc doctor --install ${name}`;
  const folder = nativeFolder(name);
  const binding = loadOptional(name, packageName, { ofTfjs: true, repair: install, folders: [folder] });
  if (!binding) throw new BackendUnavailable(name, whyNot(packageName, folder), install);
  loaded = name;
  await tf.setBackend('tensorflow');
  const backend = tf.backend() as unknown as { isUsingGpuDevice: boolean; binding: { TF_Version: string } };
  if (name === 'tensorflow-gpu' && !backend.isUsingGpuDevice)
    throw new BackendUnavailable(
      name,
      `${packageName} loads but finds no graphics card it can use: look at what nvidia-smi says and at the CUDA libraries`,
    );
  const used = Number(process.env.TF_NUM_INTRAOP_THREADS);
  const where = backend.isUsingGpuDevice ? 'on the graphics card' : used === 1 ? 'on one thread' : `on ${used} threads`;
  return {
    name,
    version: binding.version,
    variant: `libtensorflow ${backend.binding.TF_Version}`,
    threads: used,
    description: `native TensorFlow ${backend.binding.TF_Version} ${where}`,
  };
}

/** An interrupted installation leaves its record. */
function whyNot(packageName: string, folder: string): string {
  const { parts } = readRecord(folder);
  return Object.keys(parts).length > 0
    ? `its installation in ${folder} is not finished`
    : `the package ${packageName} is not installed (looked for from the current directory, from posenc, and in ${dataFolder()})`;
}

/** tfjs-node 4.22 calls two functions: Node 23 removed one, and the other warns on every start. */
function restoreRemovedUtilities(): void {
  const util = createRequire(import.meta.url)('node:util') as object;
  Object.assign(util, {
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isArray: Array.isArray,
  });
}
