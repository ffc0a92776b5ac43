import { createParams, disposeParams, type Encoding } from '@posenc/core';
import { createBench, logitsOf, tokensFor } from '../bench.ts';
import type { LawSpec } from '../case.ts';

export const determinism: LawSpec = {
  law: 'determinism',
  statement:
    'Creating an encoding twice gives the same traits, parameters and bits, whatever was called before; its parameters follow the seed: the same for the same, others for another.',
  async check(c) {
    const stack = c.stacks.plain;
    const bench = await c.bench(stack);
    const again = createBench(stack, c.subject.create(stack.dims), c.settings.seed);
    const describe = ({ traits, params }: Encoding) =>
      JSON.stringify({ ...traits, end: `${traits.maxPosition}`, params });
    const [one, two] = [describe(bench.encoding), describe(again.encoding)];
    const hint = 'Math.random or tf.random anywhere in an encoding; a counter or a cache kept between calls';
    if (one !== two) c.fail('traits and parameter descriptions of two creations', `${one} and ${two}`, hint);

    for (const [path, { init }] of Object.entries(bench.encoding.params)) {
      const values = await drawn(bench.encoding, path, [1, 1, 2]);
      if (!values[0]!.every(Number.isFinite)) c.fail(`initial values of ${path}`, 'values that are not finite', hint);
      const equal = (a: Float32Array, b: Float32Array) => a.every((v, i) => Object.is(v, b[i]));
      if (!equal(values[0]!, values[1]!)) c.fail(`${path} drawn twice with one seed`, 'they differ', hint);
      const random = init.kind === 'normal' ? init.std > 0 : init.kind === 'uniform' && init.low < init.high;
      if (random && equal(values[0]!, values[2]!)) c.fail(`${path} drawn with two seeds`, 'they are equal', hint);
    }

    const length = c.lengthFor(bench);
    const input = { tokens: tokensFor(bench, 2, length) };
    const first = await logitsOf(bench, input);
    c.identical(await logitsOf(again, input), first, 'logits of two creations', hint);
    // Shorter, and told a sequence longer than any other law tells.
    await logitsOf(bench, { tokens: tokensFor(bench, 1, Math.min(5, length)), seqLen: 2 ** 22 });
    c.identical(await logitsOf(bench, input), first, 'logits before and after another call', hint);
  },
};

async function drawn(encoding: Encoding, path: string, seeds: readonly number[]): Promise<Float32Array[]> {
  const values: Float32Array[] = [];
  for (const seed of seeds) {
    const params = createParams(encoding.params, seed);
    try {
      values.push(Float32Array.from(await params[path]!.data()));
    } finally {
      disposeParams(params);
    }
  }
  return values;
}
