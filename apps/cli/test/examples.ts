/** Encodings of a stranger, as text. */
import { readFileSync } from 'node:fs';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** What stands between ``` fences of a language in the README. */
export const blocks = (language: string): string[] =>
  [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(([, l]) => l === language).map(([, , body]) => body!);

/** The one of the README. */
export const mine = blocks('ts')[0]!;

/** Fills the holes that no built-in encoding fills, and turns without saying how: xPos-like, every other layer. */
export const strange = `import { defineEncoding, encoding, z } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';

export const strange = defineEncoding({
  contract: 1,
  type: 'strange',
  reference: 'nobody, unpublished',
  equation: 's_ij = anything',
  config: z.strictObject({}),
  notes: [],
  create: (_, { numHeads, headDim }) =>
    encoding({
      traits: { maxPosition: 1000, shiftInvariant: false, requiresCausal: true, readsPositions: true, readsSeqLen: false },
      params: { slope: { shape: [numHeads], init: { kind: 'constant', value: 2 } } },
      hooks: ({ slope }) => ({ query, key }) => {
        const perToken = (f: (p: number) => number) => tf.tensor4d(Float32Array.from(query.data, f), [1, 1, query.cols, 1]);
        return {
          layer: (l) =>
            l % 2 === 1
              ? { scale: perToken((p) => 1 + p) }
              : {
                  rotate: (u, side) => tf.tidy(() => {
                    const [x, y, rest] = tf.split(u, [1, 1, headDim - 2], 3);
                    const grow = perToken((p) => 0.5 ** (side === 'query' ? p : -p));
                    const [c, s] = [perToken((p) => Math.cos(p / 4)), perToken((p) => Math.sin(p / 4))];
                    const turned = [x!.mul(c).sub(y!.mul(s)), x!.mul(s).add(y!.mul(c))].map((v) => v.mul(grow));
                    return tf.concat([...turned, rest!], 3) as typeof u;
                  }),
                  bias: () => tf.tidy(() => {
                    const rows = Float32Array.from({ length: query.cols * key.cols }, (_, i) => key.data[i % key.cols]!);
                    return tf.mul(slope.reshape([1, numHeads, 1, 1]), tf.tensor4d(rows, [1, 1, query.cols, key.cols]));
                  }),
                },
        };
      },
    }),
});
`;
