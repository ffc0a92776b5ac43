/** Decoding with and without a cache, in turns in one process: `decoding-child.ts SETTING` */
import { useBackend } from '@posenc/backend';
import * as tf from '@tensorflow/tfjs';
import type { AloneReady } from './alone.ts';
import type { DecodingSetting } from './decoding.ts';
import type { DecodingBench } from './document.ts';
import { stepModel } from './problem.ts';
import { answer, reserveOutput, serve } from './serve.ts';
import { ratios, summarize } from './stats.ts';
import { createSubject, decodedTokens, decodeOf, forwardOf, prefill, time, tokensOf, type Work } from './work.ts';

reserveOutput();
const { sizes, lengths, rounds, backend } = JSON.parse(process.argv[2]!) as DecodingSetting;
tf.enableProdMode();
const { name, version, variant, threads, description } = await useBackend(backend);
const subject = createSubject(stepModel(sizes));

answer({ backend: { name, version, variant, threads, description } } satisfies AloneReady);
await serve(async (): Promise<Pick<DecodingBench, 'cells' | 'ratio'>> => {
  const sides: { readonly length: number; readonly full: Work; readonly cached: Work }[] = [];
  for (const length of lengths) {
    const tokens = tokensOf(subject.model, length);
    const cache = await prefill(subject, tokens);
    sides.push({ length, full: forwardOf(subject, tokens), cached: decodeOf(subject, cache, tokens) });
  }
  const seconds = sides.map(() => ({ full: [] as number[], cached: [] as number[] }));
  for (const { full, cached } of sides) for (const work of [full, cached]) await work();
  for (let round = 0; round < rounds; round++)
    for (const [i, { full, cached }] of sides.entries()) {
      seconds[i]!.full.push(await time(full, 2));
      seconds[i]!.cached.push((await time(cached, 2)) / decodedTokens);
    }
  const speedups = seconds.map(({ full, cached }) => full.map((value, round) => value / cached[round]!));
  return {
    cells: seconds.map(({ full, cached }, i) => ({
      length: lengths[i]!,
      full: summarize(full),
      cached: summarize(cached),
      speedup: summarize(speedups[i]!),
    })),
    ratio: ratios(speedups.at(-1)!, speedups[0]!),
  };
});
process.exit();
