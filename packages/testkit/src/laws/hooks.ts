/** Laws about single hooks: shapes, and what may influence what they return. */
import { type Grid, permutation, range, sliceColumns, stream } from '@posenc/core';
import type { Tensor, Tensor3D, Tensor4D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { type Bench, decodeIn, logitsOf, tokensFor } from '../bench.ts';
import { biasOf, values, withHooks } from '../call-hooks.ts';
import { type Case, deviation, type LawSpec } from '../case.ts';
import { gapped } from './placing.ts';

/** Rows of every call. */
const batch = 2;

/** The transformer itself refuses what a hook returns in another shape than the contract's: here it is led to every one. */
export const shapes: LawSpec = {
  law: 'hook shapes',
  statement:
    'Every hook returns the shape the contract states, in full passes and with a cache, for one row of positions and for several; embed, infuse and rotate keep all channels, and rotate gives queries and keys one width.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const { maxPosition } = bench.encoding.traits;
      const length = c.lengthFor(bench, 10);
      const tokens = tokensFor(bench, batch, length);
      for (const positions of [range(length), gapped(2, length, maxPosition)])
        await logitsOf(bench, { tokens, positions, seqLen: 3 * length });
      if (stack.dims.causal && length > 3)
        await decodeIn(bench, [{ tokens: sliceColumns(tokens, 0, 3) }, { tokens: sliceColumns(tokens, 3, 4) }], length);
      await keepsChannels(c, bench);
    }
  },
};

/** Changing one channel of what embed, infuse and rotate are given changes what they return. */
async function keepsChannels(c: Case, bench: Bench) {
  const { numHeads, numKvHeads, modelDim, embeddingDim, headDim, numLayers } = bench.stack.dims;
  const length = c.lengthFor(bench, 5);
  await withHooks(bench, bench.weights, range(length), async (hooks) => {
    const blind = async (act: (x: Tensor) => Tensor, shape: readonly number[]) => {
      const width = shape.at(-1)!;
      const base = await values(act(tf.fill([...shape], 0.5)));
      for (let channel = 0; channel < width; channel++) {
        const one = tf.oneHot(tf.tensor1d([channel], 'int32'), width).toFloat();
        const other = await values(act(tf.add(tf.fill([...shape], 0.5), one)));
        if (deviation(base, other).size < 1e-3) return channel;
      }
      return -1;
    };
    const report = (hook: string, channel: number) => {
      if (channel >= 0)
        c.fail(
          `what ${hook} returns with its input's channel ${channel} changed (${bench.stack.name})`,
          'it is the same',
          'channels that are not rotated dropped instead of passed through; an embedding replaced instead of added to',
        );
    };
    if (hooks.embed) report('embed', await blind((x) => hooks.embed!(x as Tensor3D), [1, length, embeddingDim]));
    for (let l = 0; l < numLayers; l++) {
      const { infuse, rotate } = hooks.layer?.(l) ?? {};
      if (infuse) report('infuse', await blind((x) => infuse(x as Tensor3D), [1, length, modelDim]));
      if (!rotate) continue;
      for (const [side, heads] of [
        ['query', numHeads],
        ['key', numKvHeads],
      ] as const)
        report(`rotate (${side})`, await blind((u) => rotate(u as Tensor4D, side), [1, heads, length, headDim]));
    }
  });
}

export const offsets: LawSpec = {
  law: 'offsets alone',
  statement:
    'relativeBias gives each offset the same [H] numbers in whatever order, subset and company it is asked, and wherever the tokens stand.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const length = c.lengthFor(bench);
      const far = bench.encoding.traits.maxPosition > 1000 + length ? 1000 : 0;
      const everything = Int32Array.from({ length: 2 * c.settings.length + 1 }, (_, i) => i - c.settings.length);
      const order = permutation(stream(0, 'offsets'), everything.length);
      const asked: [string, Int32Array, Grid][] = [
        ['shuffled', Int32Array.from(order, (i) => everything[i]!), range(length)],
        ['every third of them', everything.filter((_, i) => i % 3 === 0), range(length)],
        ['one', Int32Array.of(-1), range(length)],
        [`all, with tokens at ${far} …`, everything, range(length, far)],
        ['all, for two rows of positions', everything, gapped(2, length, bench.encoding.traits.maxPosition)],
      ];
      for (let l = 0; l < stack.dims.numLayers; l++) {
        const wanted = await biasOf(bench, l, everything, range(length));
        if (!wanted) continue;
        for (const [how, some, positions] of asked) {
          const got = (await biasOf(bench, l, some, positions))!;
          const column = (o: number, i: number, h: number, n: number) =>
            Math.abs(got[h * n + i]! - wanted[h * everything.length + o + c.settings.length]!);
          for (let h = 0; h < stack.dims.numHeads; h++)
            some.forEach((offset, i) => {
              const size = column(offset, i, h, some.length);
              if (!(size <= c.tolerance))
                c.fail(
                  `relativeBias for ${how}, with all offsets in order: head ${h}, offset ${offset}, layer ${l} (${stack.name})`,
                  `deviation ${size.toExponential(1)}; tolerance ${c.tolerance.toExponential(1)}`,
                  'an index into the list read as an offset; a row cut from a table of fixed length; a range of offsets taken for granted',
                );
            });
        }
      }
    }
  },
};
