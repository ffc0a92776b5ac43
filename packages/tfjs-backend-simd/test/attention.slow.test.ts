/** Every combination of what attention streams: against the composed path on the cpu backend, and against differences. */
import * as tf from '@tensorflow/tfjs';
import { expect, test } from 'vitest';
import type { MaskRequest } from '../../core/src/mask.ts';
import { range } from '../../core/src/positions.ts';
import { agree } from './agree.ts';
import { type Case, grid, run, slopes, tolerance } from './attend.ts';

const T = 53;
const packing = grid(2, T, (b, t) => Math.floor(t / (19 + b)));
const masks: Record<string, Partial<MaskRequest>> = {
  plain: {},
  padded: { real: grid(2, T, (b, t) => +(t >= 7 * b)) },
  packed: { segments: packing },
  'packed and padded': { segments: packing, real: grid(2, T, (_, t) => +(t < 49)) },
};
const combinations = Object.entries(masks).flatMap(([name, hidden]) =>
  [false, true].flatMap((causal) =>
    [undefined, 12].map((slidingWindow) => [name, { ...hidden, causal, slidingWindow }] as const),
  ),
);

test.each(combinations)('%s, %o: with groups, softcap, bias, dropout and without', async (name, mask) => {
  const restarting = grid(2, T, (b, t) => t % (19 + b));
  const position = name.startsWith('packed') ? restarting : range(T);
  for (const Hkv of [4, 2])
    for (const softcap of [undefined, 1.1])
      for (const biased of [undefined, position])
        for (const dropout of biased ? [0, 0.25] : [0]) {
          const c: Case = { B: 2, H: 4, Hkv, Tq: T, Tk: T, Dr: 6, Dv: 5, mask, softcap, biased, dropout };
          await agree(() => run(c), tolerance);
          let [slope, difference] = [0, 0];
          tf.tidy(() => {
            [slope, difference] = slopes(c);
          });
          expect(Math.abs(slope - difference)).toBeLessThan(3e-3 * (1 + Math.abs(slope)));
        }
});
