/** Plain JavaScript: runs everywhere, slowly; the reference the other backends are tested against. */
import * as tf from '@tensorflow/tfjs';
import type { BackendInfo } from './names.ts';

export async function prepareCpu(): Promise<BackendInfo> {
  quietCpu();
  await tf.setBackend('cpu');
  return {
    name: 'cpu',
    version: tf.version['tfjs-backend-cpu'],
    variant: 'javascript',
    threads: 1,
    description: 'plain JavaScript, one thread: slow, and the reference for the others',
  };
}

/** At its first use in Node this backend prints an advertisement for tfjs-node; `posenc doctor` says that better. */
export function quietCpu(): void {
  Object.assign(tf.findBackend('cpu'), { firstUse: false });
}
