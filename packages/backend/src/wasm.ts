/** TensorFlow.js's own WebAssembly backend, put right by ./wasm: slow, and a second opinion beside cpu. */
import * as tf from '@tensorflow/tfjs';
import { getThreadsCount, version_wasm } from '@tensorflow/tfjs-backend-wasm';
import { quietCpu } from './cpu.ts';
import type { BackendInfo } from './names.ts';
import { requireSameVersion } from './optional-package.ts';
import { BackendUnavailable } from './unavailable.ts';
import { installKernels } from './wasm/install.ts';

export async function prepareWasm(): Promise<BackendInfo> {
  requireSameVersion('wasm', '@tensorflow/tfjs-backend-wasm', version_wasm);
  if (!(await tf.setBackend('wasm')))
    throw new BackendUnavailable('wasm', 'its WebAssembly module did not start (the message above says why)');
  quietCpu(); // Missing kernels run there.
  installKernels();
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT');
  const threads = getThreadsCount();
  return {
    name: 'wasm',
    version: version_wasm,
    variant: `${simd ? 'simd' : 'scalar'}+posenc`,
    threads,
    description: `WebAssembly ${simd ? 'with SIMD' : 'without SIMD'}, ${threads === 1 ? 'one thread' : `${threads} threads`}, put right by posenc`,
  };
}
