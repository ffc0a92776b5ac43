import type { Tensor3D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AbsoluteOptions, absoluteHooks, absoluteOptions, absoluteWidth, z } from '../src/index.ts';
import { largest } from './fixtures.ts';

beforeAll(() => tf.setBackend('cpu'));

describe('absolute encodings', () => {
  const x = tf.tensor3d([1, 2, 3, 4], [1, 2, 2]);
  const vectors = tf.tensor3d([10, 20, 30, 40], [1, 2, 2]);
  const expected = { add: [11, 22, 33, 44], multiply: [10, 40, 90, 160] };

  it('add, once into the embedding, unless asked for something else', () => {
    expect(z.strictObject(absoluteOptions).parse({})).toEqual({ combine: 'add', into: 'embedding' });
  });

  it.each(['add', 'multiply'] as const)(
    '%s: by embed, or by infuse in each layer with vectors made once',
    (combine) => {
      let made = 0;
      const make = (): Tensor3D => {
        made++;
        return vectors.clone();
      };
      const once = absoluteHooks(make, { combine, into: 'embedding' });
      expect(Object.keys(once)).toEqual(['embed']);
      expect(Array.from(once.embed!(x).dataSync())).toEqual(expected[combine]);
      expect(made).toBe(1);

      const everywhere = absoluteHooks(make, { combine, into: 'queriesAndKeys' });
      const [first, second] = [0, 1].map((layer) => everywhere.layer!(layer).infuse!(x)) as [Tensor3D, Tensor3D];
      expect(Array.from(first.dataSync())).toEqual(expected[combine]);
      expect(largest(first, second)).toBe(0);
      expect(made).toBe(2);
      expect(everywhere.embed).toBeUndefined();
    },
  );

  it('are as wide as what they meet', () => {
    const dims = { modelDim: 8, embeddingDim: 3, numLayers: 1, numHeads: 1, numKvHeads: 1, headDim: 8, causal: true };
    const width = (into: AbsoluteOptions['into']) => absoluteWidth({ combine: 'add', into }, dims);
    expect([width('embedding'), width('queriesAndKeys')]).toEqual([3, 8]);
  });
});
