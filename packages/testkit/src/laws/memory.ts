import { disposeCache, type Input, range, startCache } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { createBench, tokensFor, withParams } from '../bench.ts';
import type { LawSpec } from '../case.ts';
import { gradientsOf, lossFor } from './gradients.ts';

export const noLeaks: LawSpec = {
  law: 'no leaked tensors',
  statement:
    'Creating an encoding allocates nothing, and forward passes, decoding and gradients leave no tensor behind once their results are disposed.',
  async check(c) {
    for (const stack of c.serving()) {
      const bench = await c.bench(stack);
      const length = c.lengthFor(bench, 8);
      const input: Input = { tokens: tokensFor(bench, 2, length), positions: range(length) };
      const counted = async (what: string, act: () => unknown) => {
        const before = tf.memory().numTensors;
        await act();
        const kept = tf.memory().numTensors - before;
        if (kept !== 0)
          c.fail(
            `tensors before and after ${what} (${stack.name})`,
            `${kept} more`,
            'tf.keep or tf.variable in a hook; tables made in create instead of in hooks; a module-level cache of tensors',
          );
      };
      await counted('creating the encoding', () => c.subject.create(stack.dims));
      const fresh = createBench(stack, c.subject.create(stack.dims), c.settings.seed);
      await counted('a forward pass', () =>
        withParams(fresh.model.params, fresh.weights, (params) => fresh.model.forward(params, input).logits.dispose()),
      );
      await counted('decoding with a cache', () =>
        withParams(fresh.model.params, fresh.weights, (params) => {
          const { logits, cache } = fresh.model.forward(params, input, { cache: startCache(length) });
          logits.dispose();
          disposeCache(cache!);
        }),
      );
      await counted('a gradient', () => gradientsOf(fresh, lossFor(fresh, input)));
    }
  },
};
