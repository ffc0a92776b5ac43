/** WebAssembly with SIMD and worker threads: every hot kernel is of @posenc/tfjs-backend-simd. */
import { readFileSync } from 'node:fs';
import { PosencError } from '@posenc/core';
import { type SimdInfo, type SimdOptions, useSimd } from '@posenc/tfjs-backend-simd';
import { quietCpu } from './cpu.ts';
import type { BackendInfo } from './names.ts';
import { askedThreads } from './threads.ts';

/** Wide registers unless `POSENC_SIMD_WIDE=0`: the bits are the same, and the processes are posenc's own or asked for them. */
export async function prepareSimd(asked = askedThreads()): Promise<BackendInfo> {
  quietCpu();
  const options = { wide: process.env.POSENC_SIMD_WIDE !== '0', ...(asked !== undefined && { threads: asked }) };
  const { variant, threads, wide } = await settled(options);
  const fused = variant === 'relaxed' ? 'fused multiply-add' : 'separate multiplication and addition';
  return {
    name: 'simd',
    version: versionOfSimd(),
    variant,
    threads,
    description: `WebAssembly SIMD with ${fused}${wide ? ' in registers of 256 bits' : ''}, ${threads === 1 ? 'one thread' : `${threads} threads`}, kernels by posenc`,
  };
}

/** A range that was left, in the environment too, is the asker's mistake and not a defect. */
async function settled(options: SimdOptions): Promise<SimdInfo> {
  try {
    return await useSimd(options);
  } catch (error) {
    throw error instanceof RangeError ? new PosencError(error.message) : error;
  }
}

/** Of the package that brings the kernels: another release of them may compute other last bits. */
export function versionOfSimd(): string {
  const manifest = new URL('../package.json', import.meta.resolve('@posenc/tfjs-backend-simd'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
