/**
 * Graphics cards through WebGPU: tfjs's backend on the implementation of Chrome (Dawn), as the npm package `webgpu`.
 * Read results with `await tensor.data()`: this backend has no dataSync in Node.
 */
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';
import { installCommand, loadOptional } from './optional-package.ts';
import { BackendUnavailable } from './unavailable.ts';

interface Adapter {
  readonly info: { readonly vendor: string; readonly architecture: string; readonly description: string };
}
interface Gpu {
  requestAdapter(): Promise<Adapter | null>;
}
interface Dawn {
  create(options: string[]): Gpu;
  readonly globals: object;
}

export async function prepareWebGpu(): Promise<BackendInfo> {
  const backendPackage = `@tensorflow/tfjs-backend-webgpu`;
  const dawn = loadOptional('webgpu', 'webgpu', { ofTfjs: false });
  if (!dawn) throw notInstalled('webgpu', backendPackage);

  const { create, globals } = dawn.module as Dawn;
  const navigator = globalThis.navigator as { gpu?: Gpu };
  if (!navigator.gpu) {
    Object.assign(globalThis, globals);
    Object.defineProperty(navigator, 'gpu', { value: create([]), configurable: true });
  }
  const adapter = await navigator.gpu!.requestAdapter();
  if (!adapter)
    throw new BackendUnavailable(
      'webgpu',
      `the package webgpu ${dawn.version} loads but finds no graphics adapter (it needs a Vulkan, Metal or Direct3D 12 driver)`,
    );

  // Only now: the package registers its backend when it is loaded, if there is a navigator.gpu.
  const backend = loadOptional('webgpu', backendPackage, { ofTfjs: true });
  if (!backend) throw notInstalled(backendPackage);
  if (!(await tf.setBackend('webgpu')))
    throw new BackendUnavailable('webgpu', `${backendPackage} ${backend.version} did not start`);
  const { vendor, architecture, description } = adapter.info;
  const variant = [vendor, architecture].filter(Boolean).join(' ') || description;
  return {
    name: 'webgpu',
    version: backend.version,
    variant,
    threads: 0,
    description: `WebGPU through webgpu ${dawn.version} on ${description || variant}; read results with data(), not dataSync()`,
  };
}

function notInstalled(...names: string[]): BackendUnavailable {
  const pinned = names.map((name) => (name === 'webgpu' ? name : `${name}@${tf.version['tfjs-core']}`));
  const what = names.length > 1 ? `the packages ${names.join(' and ')} are` : `the package ${names[0]} is`;
  return new BackendUnavailable('webgpu', `${what} not installed`, installCommand(pinned, ['webgpu']));
}
