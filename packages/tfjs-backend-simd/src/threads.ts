/** More than any machine has cores to spare: a wrong number is an error before it starts thousands of workers. */
const maxThreads = 256;

/** `POSENC_THREADS` when it is set, else one per core, at most 16; 1 where memory cannot be shared between threads. */
export function defaultThreads(): number {
  const asked = typeof process === 'object' ? process.env?.POSENC_THREADS : undefined;
  if (asked !== undefined && asked !== '') {
    if (!/^[1-9]\d*$/.test(asked) || Number(asked) > maxThreads)
      throw new RangeError(`POSENC_THREADS must be a whole number from 1 to ${maxThreads}, not "${asked}"`);
    return Number(asked);
  }
  return canShareMemory() ? Math.min(16, navigator.hardwareConcurrency ?? 1) : 1;
}

/** Whether other threads may be sent this one's memory: browsers allow it to pages isolated from other origins. */
const canShareMemory = () => typeof process === 'object' || globalThis.crossOriginIsolated === true;

/** Throws RangeError for what is no number of threads from 1 to 256, or more than one where they cannot share memory. */
export function checkThreads(threads: number): void {
  if (!Number.isInteger(threads) || threads < 1 || threads > maxThreads)
    throw new RangeError(`threads must be a whole number from 1 to ${maxThreads}, not ${threads}`);
  if (threads > 1 && !canShareMemory())
    throw new RangeError(
      `${threads} threads cannot share memory on a page that is not isolated from other origins: serve it with the headers ` +
        'Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp, or take one thread',
    );
}
