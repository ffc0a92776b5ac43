/** What training holds: nothing more after ten thousand steps than after one thousand; sequences of 16,384 tokens in 4 GiB. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { TrainingSizes } from './training.ts';

interface Mark {
  readonly step: number;
  readonly loss: number;
  /** Of the process. */
  readonly rss: number;
  readonly numTensors: number;
  readonly bytesInUse: number;
  readonly bytesReserved: number;
  readonly bytesAtPeak: number;
}
interface Outcome {
  readonly seen: readonly Mark[];
  /** After dispose. */
  readonly left: object;
}

/** V8 lets its own garbage grow by hundreds of MiB before it collects: held to little, what remains is ours. */
const smallHeap = ['--max-semi-space-size=1', '--max-old-space-size=64', '--single-threaded-gc'];

async function train(sizes: TrainingSizes, marks: readonly number[], flags: readonly string[] = []): Promise<Outcome> {
  const program = fileURLToPath(new URL('./programs/train.ts', import.meta.url));
  const args = [...flags, '--expose-gc', '--conditions=posenc-source', program, JSON.stringify({ sizes, marks })];
  const env = { ...process.env, POSENC_THREADS: '2' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

const MiB = 2 ** 20;
const nothing = { numTensors: 0, bytesInUse: 0 };

test('10,000 steps of a one-layer model leave nothing behind', async () => {
  const sizes = { modelDim: 16, numHeads: 2, numLayers: 1, batchSize: 2, length: 16 };
  const { seen, left } = await train({ encoding: 't5', ...sizes }, [1000, 4000, 7000, 10_000], smallHeap);
  const [early, ...later] = seen;
  for (const { rss, numTensors, bytesInUse, bytesReserved, bytesAtPeak } of later) {
    const { numTensors: n, bytesInUse: used, bytesReserved: reserved, bytesAtPeak: peak } = early!;
    expect({ numTensors, bytesInUse, bytesReserved, bytesAtPeak }).toEqual({
      ...{ numTensors: n, bytesInUse: used, bytesReserved: reserved, bytesAtPeak: peak },
    });
    expect(rss - early!.rss).toBeLessThan(16 * MiB);
  }
  expect(left).toEqual(nothing);
});

test.each(['nope', 'rope', 'alibi', 't5'] as const)(
  'the standard model trains on 16,384 tokens at once in 4 GiB: %s',
  async (encoding) => {
    const sizes = { modelDim: 128, numHeads: 4, numLayers: 4, batchSize: 1, length: 16_384 };
    const { seen, left } = await train({ encoding, ...sizes }, [1]);
    const [{ rss, loss, bytesInUse, bytesAtPeak }] = seen as [Mark];
    console.log(`${encoding}: ${Math.round(bytesAtPeak / MiB)} MiB of tensors, ${Math.round(rss / MiB)} MiB in all`);
    // 16,384² scores alone are 1 GiB for one head of one layer.
    expect(bytesAtPeak).toBeLessThan(4096 * MiB);
    expect(rss).toBeLessThan(4096 * MiB);
    expect(bytesInUse).toBeLessThan(64 * MiB);
    expect(loss).toBeGreaterThan(0);
    expect(left).toEqual(nothing);
  },
);
