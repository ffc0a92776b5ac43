import { range } from '@posenc/core';
import { type Logits, logitsOf, tokensFor } from '../bench.ts';
import type { LawSpec } from '../case.ts';

/** Near; beyond what bfloat16 counts exactly; beyond float16, and where angles in float32 are off by 0.004 rad. */
const shifts = [3, 1000, 100_000];

export const shiftInvariance: LawSpec = {
  law: 'shift invariance',
  statement:
    'With the trait shiftInvariant, moving every position by the same amount leaves the logits unchanged; without it, moving them changes the logits, and far shifts are told apart like near ones.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const { maxPosition, shiftInvariant } = bench.encoding.traits;
      if (maxPosition < 2) return;
      const wanted = stack === c.stacks.plain ? c.settings.length : c.settings.shortLength;
      const length = Math.min(wanted, Math.ceil(maxPosition / 2));
      const reach = maxPosition - length;
      const moves = shifts.filter((shift) => shift < reach);
      if (Number.isFinite(reach)) moves.push(reach);

      const tokens = tokensFor(bench, 2, length);
      const at = (shift: number) => logitsOf(bench, { tokens, positions: range(length, shift), seqLen: length });
      const here = await at(0);
      const there: Logits[] = [];
      for (const shift of moves) there.push(await at(shift));
      const places = (shift: number) => `logits at positions ${shift} … ${shift + length - 1}`;

      if (shiftInvariant) {
        moves.forEach((shift, i) => {
          c.equal(
            there[i]!,
            here,
            `${places(shift)} with those at 0 … ${length - 1} (${stack.name})`,
            'only one of query and key turned, or turned the other way; channels paired differently in table and rotation; a rotation that does not preserve norms; positions or angles in less than float64',
          );
        });
        continue;
      }
      const hint =
        'the trait is under-claimed (set shiftInvariant: true), or positions saturate: a table read with a clipped index';
      const [last, before] = [moves.length - 1, moves.length - 2];
      c.moved(there[last]!, here, `${places(moves[last]!)} with those at 0 … (${stack.name})`, hint);
      if (before >= 0)
        c.moved(
          there[last]!,
          there[before]!,
          `${places(moves[last]!)} with those at ${moves[before]} … (${stack.name})`,
          hint,
        );
    }
  },
};
