/** Memory as backends tell it. */
import * as tf from '@tensorflow/tfjs';

/** A backend of WebAssembly that hands out its memory itself, and so knows all of it: tensors and scratch. */
interface Counting {
  readonly allocator: {
    readonly bytesInUse: number;
    readonly bytesReserved: number;
    readonly bytesAtPeak: number;
    resetPeak(): void;
  };
}

const counting = (backend: object): backend is Counting =>
  'allocator' in backend && typeof (backend.allocator as Partial<Counting['allocator']>).resetPeak === 'function';

/** Whether the current backend knows every byte it uses. */
export const countsBytes = (): boolean => counting(tf.backend());

/** Bytes that a work takes at its peak beyond those in use before; undefined where the backend does not know. */
export function bytesAtPeak(work: () => void): number | undefined {
  const backend: object = tf.backend();
  if (!counting(backend)) return undefined;
  const { allocator } = backend;
  const before = allocator.bytesInUse;
  allocator.resetPeak();
  work();
  return allocator.bytesAtPeak - before;
}

/** Size of a WebAssembly backend's memory, which never shrinks. */
export function heapBytes(): number | null {
  const backend: object = tf.backend();
  if (counting(backend)) return backend.allocator.bytesReserved;
  const { wasm } = backend as { readonly wasm?: { readonly HEAPU8?: Uint8Array } };
  return wasm?.HEAPU8?.buffer.byteLength ?? null;
}
