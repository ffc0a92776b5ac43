/** What an application's Worker does: take the package as it is published, train, tell the page. */
import { type SimdBackend, type SimdOptions, useSimd } from '@posenc/tfjs-backend-simd';
import { backend } from '@tensorflow/tfjs-core';
import { lossesOf } from '../training.ts';

globalThis.onmessage = async ({ data }: MessageEvent<SimdOptions & { readonly steps: number }>) => {
  const { steps, ...options } = data;
  try {
    const info = await useSimd(options);
    const { pool } = backend() as SimdBackend;
    // Threads that never come up would not be missed: the others do their work.
    for (let wait = 0; wait < 1000 && pool.joined < info.threads; wait++) await pause(10);
    const losses = await lossesOf(steps);
    postMessage({ ...info, joined: pool.joined, isolated: globalThis.crossOriginIsolated, losses });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
