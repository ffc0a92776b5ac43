/** `POSENC_THREADS` when it is set, else one per core, at most 16; 1 where memory cannot be shared between threads. */
export function defaultThreads(): number {
  const asked = typeof process === 'object' ? process.env?.POSENC_THREADS : undefined;
  if (asked !== undefined && asked !== '') {
    if (!/^[1-9]\d*$/.test(asked)) throw new RangeError(`POSENC_THREADS must be a whole number from 1, not "${asked}"`);
    return Number(asked);
  }
  const isolated = typeof process === 'object' || globalThis.crossOriginIsolated === true;
  return isolated ? Math.min(16, navigator.hardwareConcurrency ?? 1) : 1;
}
