/** The law about what lies far apart: training never sees it, so nothing but a law does. */
import { explicit } from '@posenc/core';
import { logitsOf, tokensFor } from '../bench.ts';
import { biasOf } from '../call-hooks.ts';
import type { LawSpec } from '../case.ts';

/** Their differences are near and far: past any table a test would fill, past half precision, past a usual context. */
const places = [0, 1, 2, 141, 1000, 4096, 33_000, 100_000];

export const farPositions: LawSpec = {
  law: 'far positions',
  statement:
    'Tokens up to 100,000 positions apart, as far as the encoding is defined, have finite logits; relativeBias at those offsets is finite, and all tables shown are numbers.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const positions = places.filter((position) => position < bench.encoding.traits.maxPosition);
      const hold = (numbers: ArrayLike<number>, what: string) => {
        if (!Array.prototype.every.call(numbers, Number.isFinite))
          c.fail(
            `${what} (${stack.name})`,
            'values that are not finite',
            'a table of fixed length read past its end; overflow; a root or logarithm of a difference that turns negative',
          );
      };
      const tokens = tokensFor(bench, 2, positions.length);
      const logits = await logitsOf(bench, { tokens, positions: explicit([positions]) });
      hold(logits.data, `logits at positions ${positions.join(', ')}`);
      const offsets = Int32Array.from([...positions.map((p) => -p), ...(stack.dims.causal ? [] : positions.slice(1))]);
      for (let l = 0; l < stack.dims.numLayers; l++)
        hold(
          (await biasOf(bench, l, offsets, explicit([positions]))) ?? [],
          `relativeBias at offsets ${offsets.join(', ')}, layer ${l}`,
        );
      for (const { name, quantity, data } of c.subject.tables?.(stack.dims) ?? []) {
        // A wavelength may be infinite.
        const numbers =
          quantity === 'value' ? Array.from(data).filter((v) => Math.abs(v) !== Number.POSITIVE_INFINITY) : data;
        hold(numbers, `the table "${name}"`);
      }
    }
  },
};
