/** The matrix product n × n × n on one thread, in turns: the work that most of training is. */
import { PosencError } from '@posenc/core';
import type { Entry } from './contenders.ts';
import { type Absent, askSurely, label, type Running, stepsFor, withContenders } from './contest.ts';
import type { ProductBench, ProductResult } from './document.ts';
import type { Measuring } from './machine.ts';
import { summarize } from './stats.ts';

/** How large, how long, and who listens. */
export interface ProductOptions extends Measuring {
  readonly size: number;
  readonly rounds: number;
}

/**
 * Both operands, row by row; whoever computes draws them like this: element i is ((i · step) mod 1009) / 1009 − 1/2 with step 7 on
 * the left and 11 on the right.
 */
export const operand = (size: number, step: 7 | 11): Float32Array =>
  Float32Array.from({ length: size * size }, (_, i) => ((i * step) % 1009) / 1009 - 0.5);

/** Of the mean square of the result's first row, relative. */
const sameProduct = 1e-3;

/**
 * Measures all entries in turns.
 * @throws PosencError when a contender gets another product, or one that must be there is absent
 */
export async function measureProducts(all: readonly Entry[], options: ProductOptions): Promise<ProductBench> {
  const { size, watch, onProgress } = options;
  return withContenders(options.signal, async (start) => {
    const absent: Absent[] = [];
    const present: (Running & { readonly stepSeconds: number; readonly value: number; readonly rounds: number[] })[] =
      [];
    for (const entry of all) {
      onProgress(`matrix product: ${label(entry)} warms up`);
      const one = await start(entry, String(size));
      if ('status' in one) {
        absent.push(one);
        continue;
      }
      const { values, seconds } = await askSurely(one, { steps: 5 });
      present.push({ ...one, value: values[0]!, stepSeconds: summarize(seconds).median, rounds: [] });
    }
    for (const { entry, value } of present)
      if (!(Math.abs(value / present[0]!.value - 1) <= sameProduct))
        throw new PosencError(`${label(entry)} computes another product: ${value}, not ${present[0]!.value}`);
    for (let round = 0; round < options.rounds; round++)
      for (const one of present) {
        await watch.rest();
        onProgress(`matrix product: round ${round + 1} of ${options.rounds}, ${label(one.entry)}`);
        const { seconds } = await askSurely(one, { steps: stepsFor(0.3, one.stepSeconds, 50) });
        one.rounds.push(summarize(seconds).median);
      }
    const measured = present.map(({ entry, ready, rounds }): ProductResult => {
      const gflops = rounds.map((seconds) => (2 * size ** 3) / seconds / 1e9);
      const { name, kind } = entry.contender;
      const { version, variant, threads } = ready;
      return { name, kind, threads, status: 'measured', version, variant, rounds, gflops: summarize(gflops) };
    });
    const speed = (result: ProductResult) => (result.status === 'measured' ? result.gflops.median : 0);
    return { size, contenders: [...measured, ...absent].sort((a, b) => speed(b) - speed(a)) };
  });
}
