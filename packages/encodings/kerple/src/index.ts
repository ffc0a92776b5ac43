export { type KerpleKernel, kerpleKernel, type Letter } from './kernels.ts';
export * from './kerple.ts';
