/** What can be asked for. `auto` is `simd`, or what is installed and clearly faster. */
export const backendNames = ['auto', 'simd', 'tensorflow', 'tensorflow-gpu', 'webgpu', 'wasm', 'cpu'] as const;

/** What a user may ask for: `auto`, or a backend by name. */
export type BackendName = (typeof backendNames)[number];

/** The backend in use, as plain data: what a run record keeps, because the bits of a result depend on it. */
export interface BackendInfo {
  readonly name: Exclude<BackendName, 'auto'>;
  /** Of the package that provides the backend: of `@posenc/tfjs-backend-simd`, for `simd`. */
  readonly version: string;
  /** Which code computes: `relaxed`, `libtensorflow 2.18.0`, a graphics adapter … */
  readonly variant: string;
  /** Threads that compute; 0 when that is not ours to say. */
  readonly threads: number;
  /** One line for people. */
  readonly description: string;
  /** Asked for as `auto`, where there was something to choose from: what was chosen, and why. */
  readonly chosen?: string;
}
