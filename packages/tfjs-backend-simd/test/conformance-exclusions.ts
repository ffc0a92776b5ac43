/** Tests of tfjs-core that do not hold on this backend. Every entry must name tests that fail: no entry outlives its reason. */
export interface Exclusion {
  /** Part of the test's full name. */
  readonly name: string;
  readonly reason: string;
}

export const exclusions: readonly Exclusion[] = [];

/** Tests that tfjs-core itself has switched off, on every backend (`xit`). */
export const switchedOff: readonly string[] = [
  'debug on simd {} A x B',
  'IS_BROWSER isBrowser: true',
  'IS_BROWSER isBrowser: false',
  'kernel_registry simd {} errors when registering the same kernel twice',
  'gradient registry simd {} warning when registering the same gradient twice',
];
