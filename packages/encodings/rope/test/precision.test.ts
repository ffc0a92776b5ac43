/** Long positions against 60-digit arithmetic (golden/long_positions.py). */
import { explicit } from '@posenc/core';
import { applyRotary, type RopeOptions, ropeFrequencies, rotaryTables, rotaryTensors } from '@posenc/rope';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { deviation, load, relativeDeviation } from './golden.ts';

interface Case {
  readonly id: string;
  readonly headDim: number;
  readonly options: RopeOptions;
  readonly seqLen?: number;
  readonly invFreq: readonly number[];
  readonly positions: readonly number[];
  readonly cos: readonly (readonly number[])[];
  readonly sin: readonly (readonly number[])[];
}

const { cases } = load<{ cases: Case[] }>('long-positions');

beforeAll(() => tf.setBackend('cpu'));

describe('positions up to 1048576', () => {
  it('are among the cases', () => {
    expect(cases).toHaveLength(14);
    for (const { positions } of cases) expect(positions).toEqual(expect.arrayContaining([8191, 131072, 1048576]));
  });

  for (const c of cases)
    describe(c.id, () => {
      const frequencies = ropeFrequencies(c.options, { headDim: c.headDim, seqLen: c.seqLen });
      const tables = rotaryTables(explicit([c.positions]), frequencies);

      it('frequencies', () => expect(relativeDeviation(frequencies.invFreq, c.invFreq)).toBeLessThan(1e-13));

      it('tables on the host', () => {
        expect(deviation(tables.cos, c.cos.flat())).toBeLessThan(1e-9);
        expect(deviation(tables.sin, c.sin.flat())).toBeLessThan(1e-9);
      });

      for (const pairing of ['half', 'interleaved'] as const)
        it(`a rotated vector on the device, ${pairing}`, () => {
          const pairs = c.invFreq.length;
          const first = (i: number) => (pairing === 'half' ? i < pairs : i % 2 === 0);
          const pair = (i: number) => (pairing === 'half' ? i % pairs : Math.floor(i / 2));
          const channels = Array.from({ length: 2 * pairs }, (_, i) => i);
          // (0.6, −0.8) in every pair.
          const u = tf.tensor4d(
            c.positions.flatMap(() => [
              ...channels.map((i) => (first(i) ? 0.6 : -0.8)),
              ...new Array<number>(c.headDim - 2 * pairs).fill(0.5),
            ]),
            [1, 1, c.positions.length, c.headDim],
          );
          const expected = c.positions.flatMap((_, t) => [
            ...channels.map((i) => {
              const [cos, sin] = [c.cos[t]![pair(i)]!, c.sin[t]![pair(i)]!];
              return first(i) ? 0.6 * cos + 0.8 * sin : -0.8 * cos + 0.6 * sin;
            }),
            ...new Array<number>(c.headDim - 2 * pairs).fill(0.5),
          ]);
          const turned = applyRotary(u, rotaryTensors(tables), pairing).dataSync();
          expect(deviation(turned, expected)).toBeLessThan(1e-6);
        });
    });

  it('cos(131072 rad) = 0.04209082, where device cosines go wrong', () => {
    const { cos } = rotaryTables(explicit([[131072]]), ropeFrequencies({}, { headDim: 2 }));
    expect(cos[0]).toBeCloseTo(0.04209082, 8);
  });
});
