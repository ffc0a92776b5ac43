/** Attention on several backends: who is too slow or fails is shown as such, and who computes something else is refused. */
import { describe, expect, it } from 'vitest';
import { type AttentionOptions, measureAttention } from '../src/bench/attention.ts';
import type { Contender, Entry } from '../src/bench/contenders.ts';
import { attentionBytes, attentionText } from '../src/bench/print.ts';

const options: AttentionOptions = {
  sizes: { numHeads: 1, headDim: 2, tokens: 16 },
  lengths: [4, 8, 16],
  rounds: 3,
  limitSeconds: 1,
  watch: { rest: async () => {}, loadBefore: [], otherCores: () => ({ median: 0, min: 0, max: 0, n: 1 }) },
  signal: new AbortController().signal,
  onProgress() {},
};

/** A process that answers `body`, an expression of `length` and `bytes`; undefined: never. */
const backend = (name: string, body: string, threads = 1): Entry => {
  const ready = { version: '1', variant: '', threads, countsBytes: true };
  const contender: Contender = {
    name,
    kind: 'ours',
    threaded: threads > 1,
    start: () => ({
      command: process.execPath,
      args: [
        '-e',
        `console.log(${JSON.stringify(JSON.stringify(ready))});
         require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
           const { length, bytes, steps } = JSON.parse(line);
           const say = (value, seconds) => ({ values: Array(steps).fill(value), seconds: Array(steps).fill(seconds) });
           const answer = ${body};
           if (answer) console.log(JSON.stringify(answer));
         });`,
      ],
    }),
  };
  return { contender, threads };
};

const simd = backend('simd', 'say(bytes ? 100 * length : 7, 0.01 * length)', 2);

describe('attention on several backends', () => {
  it('has medians, ratios to simd with all threads, and bytes', async () => {
    const half = backend('simd', 'say(bytes ? 100 * length : 7, 0.02 * length)');
    const { contenders, reference } = await measureAttention([half, simd], options);
    expect(reference).toBe('simd, 2 threads');
    expect(contenders.map(({ name, threads }) => [name, threads])).toEqual([
      ['simd', 2],
      ['simd', 1],
    ]);
    expect(contenders[1]!.cells[2]).toEqual({
      length: 16,
      status: 'measured',
      seconds: { median: 0.32, min: 0.32, max: 0.32, n: 3 },
      ratio: { median: 2, min: 2, max: 2, n: 3 },
      peakBytes: 1600,
    });
  });

  it('cuts off who is too slow, and goes on with the others', async () => {
    const slow = backend('slow', 'length > 4 ? undefined : say(7, 1.5)');
    const result = await measureAttention([slow, simd], options);
    expect(result.contenders[1]!.cells).toMatchObject([
      { length: 4, status: 'measured', seconds: { n: 2 }, peakBytes: 7 },
      { length: 8, status: 'over', seconds: 1 },
      { length: 16, status: 'over', seconds: 1 },
    ]);
    expect(result.contenders[0]!.cells.map(({ status }) => status)).toEqual(['measured', 'measured', 'measured']);
    expect(attentionText(result)).toMatch(/^slow, 1 thread .* over 1 s +over 1 s$/m);
    expect(attentionBytes(result).map(({ bytes }) => bytes)).toEqual([400, 800, 1600]);
  });

  it('keeps why one failed, at this length or as a process', async () => {
    const full = backend('full', "length === 8 ? { failed: 'out of memory' } : say(7, 0.1)");
    const gone = backend('gone', 'length === 8 ? process.exit(3) : say(7, 0.1)');
    const { contenders } = await measureAttention([full, gone, simd], options);
    const cells = (name: string) => contenders.find((c) => c.name === name)!.cells;
    expect(cells('full')).toMatchObject([
      { status: 'measured' },
      { status: 'failed', reason: 'out of memory' },
      { status: 'measured' },
    ]);
    expect(cells('gone')).toMatchObject([
      { status: 'measured' },
      { status: 'failed', reason: expect.stringMatching(/code 3/) },
      { status: 'failed' },
    ]);
  });

  it('refuses other gradients', async () => {
    const other = backend('other', 'say(7.1, 0.01)');
    await expect(measureAttention([simd, other], options)).rejects.toThrow(
      /other computes other gradients of attention at 4 tokens than simd, 2 threads: mean square 7\.1, not 7/,
    );
    const lost = backend('lost', 'say(NaN, 0.01)');
    await expect(measureAttention([simd, lost], options)).rejects.toThrow(/lost computes other gradients/);
  });
});
