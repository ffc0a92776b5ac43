/** Three words, two channels, one head: attention read as a set, with a causal mask, and with positions. */
import { attention, createMask, type Dims, type LayerHooks, range } from '@posenc/core';
import { rope } from '@posenc/rope';
import * as tf from '@tensorflow/tfjs';

export const words = { dog: [1, 0], bites: [0, 1], man: [1, 1] } as const;
export type Word = keyof typeof words;

export const sentences: readonly (readonly Word[])[] = [
  ['dog', 'bites', 'man'],
  ['man', 'bites', 'dog'],
];

export interface Reading {
  readonly how: string;
  readonly sentence: readonly Word[];
  /** What each word receives, [2]. */
  readonly outputs: Readonly<Record<Word, readonly number[]>>;
}

const dims: Dims = {
  modelDim: 2,
  embeddingDim: 2,
  numLayers: 1,
  numHeads: 1,
  numKvHeads: 1,
  headDim: 2,
  causal: false,
};

/** Queries, keys and values are the words themselves: nothing is learned, order alone can make a difference. */
export function readings(): Reading[] {
  const positions = range(3);
  const at = { query: positions, key: positions, seqLen: { rows: 1, cols: 3, data: Int32Array.of(3, 3, 3) } };
  const turned = rope.create(rope.config.parse({}), dims).hooks({})(at).layer!(0);
  const ways: [how: string, causal: boolean, hooks: LayerHooks][] = [
    ['everything visible, no positions', false, {}],
    ['causal mask, no positions', true, {}],
    ['everything visible, RoPE', false, turned],
  ];
  return ways.flatMap(([how, causal, hooks]) =>
    sentences.map((sentence) => ({ how, sentence, outputs: read(sentence, causal, hooks) })),
  );
}

function read(sentence: readonly Word[], causal: boolean, hooks: LayerHooks): Reading['outputs'] {
  const outputs = tf.tidy(() => {
    const x = tf.tensor4d(
      sentence.flatMap((word) => [...words[word]]),
      [1, 1, 3, 2],
    );
    const keys = hooks.rotate?.(x, 'key') ?? x;
    const mask = createMask({ causal, numQueries: 3, numKeys: 3 });
    return attention(x, keys, x, hooks, { mask, scoreScale: 1 / Math.sqrt(2) });
  });
  const numbers = outputs.dataSync();
  outputs.dispose();
  return Object.fromEntries(
    sentence.map((word, i) => [word, [numbers[2 * i]!, numbers[2 * i + 1]!]]),
  ) as unknown as Reading['outputs'];
}
